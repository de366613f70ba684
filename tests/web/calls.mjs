// Calls of many runs in one process of Node, for tests: each line of stdin is a run as JSON, and so is its answer on stdout.
//
// {"bam": [[name, data, index]], "reference": [name, fasta, fai, gzi], "variants", "intervals", "region", "strModel",
//  "pedigree", "primers", "options"}: paths and addresses; what is missing is left out. Or
// {"folder", "arguments": ["-f", "ref.fa", "-v", "list.vcf", "-r", "chr1:1-9", "-R", "places.bed", "reads.bam"]}: those of
// the command line, of which indexes lie beside their files
//
// With "explain", a position: -> {"explained": an Explanation, "error", "defect"}. Otherwise
//
// -> {"vcf", "tsv", "companion", "model": texts, "records": [lines of the VCF], "events", "error", "defect"}
//
//     node calls.mjs pairhmm.wasm
import { existsSync, openAsBlob } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";

import { explain } from "../../web/src/call/explain.js";
import { haplotypesHeader, tsvHeader, vcfHeader } from "../../web/src/call/headers.js";
import { run } from "../../web/src/call/run.js";
import { Engine } from "../../web/src/engine.js";

const INDICES = [".bai", ".crai", ".csi"];

/** A path as a file of the browser, or an address as it is. */
const source = (path) => (path && !/^https?:/.test(path) ? openAsBlob(path) : (path ?? undefined));
const named = async (path) => path && { name: basename(path), data: await source(path) };

async function inputsOf({ bam, reference: [name, fasta, fai, gzi], ...given }) {
  return {
    alignments: await Promise.all(
      bam.map(async ([own, data, index]) => ({ name: own, data: await source(data), index: await source(index) })),
    ),
    reference: { name, fasta: await source(fasta), fai: await source(fai), gzi: await source(gzi) },
    variants: await named(given.variants),
    intervals: await named(given.intervals),
    region: given.region,
    strModel: await named(given.strModel),
    pedigree: await named(given.pedigree),
    primers: await named(given.primers),
  };
}

/** The same of arguments. */
function filesOf({ folder, arguments: given }) {
  const files = { bam: [] };
  const beside = (path, endings) => endings.map((ending) => path + ending).find(existsSync);
  for (let at = 0; at < given.length; at++) {
    const isOption = given[at].startsWith("-");
    const path = join(folder, given[isOption ? at + 1 : at]);
    if (given[at] === "-f") {
      files.reference = [basename(path), path, beside(path, [".fai"]), beside(path, [".gzi"])];
    } else if (given[at] === "-r") files.region = given[at + 1];
    else if (given[at] === "-v") files.variants = path;
    else if (given[at] === "-R") files.intervals = path;
    else if (isOption) throw new Error(`no option of the page: ${given[at]}`);
    else files.bam.push([basename(path), path, beside(path, INDICES)]);
    at += isOption ? 1 : 0;
  }
  return files;
}

async function explained(given, options, engine) {
  try {
    return { explained: await explain(await inputsOf(given), options, engine, given.explain), error: "", defect: "" };
  } catch (error) {
    return { explained: null, ...told(error) };
  }
}

/** Of an error: a problem of the input, or a defect. */
function told(error) {
  const isProblem = error.name === "InputProblem";
  return { error: isProblem ? error.message : "", defect: isProblem ? "" : error.stack };
}

async function answer(given, engine) {
  const { options = {} } = given;
  if (given.explain) return explained(given, options, engine);
  const events = [];
  const tables = [];
  let [vcf, records, companion, model] = ["", "", "", ""];
  try {
    const inputs = await inputsOf(given.arguments ? filesOf(given) : given);
    for await (const event of run(inputs, options, engine)) {
      if (event.kind === "begin") {
        vcf = vcfHeader(event, options);
        model = event.model;
        tables.push(tsvHeader());
        companion = haplotypesHeader(model);
      } else if (event.kind === "region") {
        records += event.records;
        tables.push(event.likelihoods);
        companion += event.haplotypes;
      } else if (event.kind === "rest") records += event.records;
      else if (event.kind !== "progress") events.push(event);
    }
  } catch (error) {
    const texts = { vcf: "", tsv: "", companion: "", model, records: [], events };
    return { ...texts, ...told(error) };
  }
  const tsv = await new Blob(tables).text();
  return {
    vcf: vcf + records,
    tsv,
    companion,
    model,
    records: records.split("\n").slice(0, -1),
    events,
    error: "",
    defect: "",
  };
}

const engine = await Engine.start({ wasm: await readFile(process.argv[2]), workers: 1, gpu: "off" });
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await answer(JSON.parse(line), engine)));
}
engine.close();
