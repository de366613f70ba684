// Calls of many folders in one process of Node, for tests: each line of stdin is a run as JSON, and so is its answer on stdout.
//
// {"folder", "arguments": ["-f", "ref.fa", "-v", "list.vcf", "-r", "chr1:1-9", "-R", "places.bed", "reads.bam"]}: those of
// the command line, of which indexes lie beside their files -> {"records": [lines of the VCF], "error", "defect"}
//
//     node calls.mjs pairhmm.wasm
import { existsSync, openAsBlob } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";

import { run } from "../../web/src/call/run.js";
import { Engine } from "../../web/src/engine.js";

const INDICES = [".bai", ".crai", ".csi"];

const fileAt = async (path) => (existsSync(path) ? openAsBlob(path) : undefined);
const named = async (path) => ({ name: basename(path), data: await openAsBlob(path) });

async function inputsOf({ folder, arguments: given }) {
  const inputs = { alignments: [] };
  for (let at = 0; at < given.length; at++) {
    if (given[at] === "-r") {
      inputs.region = given[++at];
      continue;
    }
    const isOption = given[at].startsWith("-");
    const path = join(folder, given[isOption ? at + 1 : at]);
    if (given[at] === "-f") {
      const [fai, gzi] = await Promise.all([".fai", ".gzi"].map((ending) => fileAt(path + ending)));
      inputs.reference = { name: basename(path), fasta: await openAsBlob(path), fai, gzi };
    } else if (given[at] === "-v") inputs.variants = await named(path);
    else if (given[at] === "-R") inputs.intervals = await named(path);
    else if (isOption) throw new Error(`no option of the page: ${given[at]}`);
    else {
      const beside = INDICES.map((ending) => path + ending).find(existsSync);
      inputs.alignments.push({ ...(await named(path)), index: beside && (await openAsBlob(beside)) });
    }
    at += isOption ? 1 : 0;
  }
  return inputs;
}

async function answer(given, engine) {
  let text = "";
  try {
    for await (const event of run(await inputsOf(given), {}, engine)) {
      if (event.kind === "region" || event.kind === "rest") text += event.records;
    }
    return { records: text.split("\n").slice(0, -1), error: "", defect: "" };
  } catch (error) {
    if (error.name === "InputProblem") return { records: [], error: error.message, defect: "" };
    return { records: [], error: "", defect: error.stack };
  }
}

const engine = await Engine.start({ wasm: await readFile(process.argv[2]), workers: 1, gpu: "off" });
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await answer(JSON.parse(line), engine)));
}
engine.close();
