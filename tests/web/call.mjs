// Calls in Node, for tests: node call.mjs CONFIGURATION, a JSON file that names files and options.
//
// {"wasm", "bam": [[name, data, index]], "reference": [name, fasta, fai, gzi], "variants", "intervals", "region", "strModel",
//  "pedigree", "options", "vcf", "tsv", "companion", "abortAfter": regions}: paths; what is missing is left out.
import { openAsBlob } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";

import { haplotypesHeader, tsvHeader, vcfHeader } from "../../web/src/call/headers.js";
import { run } from "../../web/src/call/run.js";
import { Engine } from "../../web/src/engine.js";

const given = JSON.parse(await readFile(process.argv[2], "utf8"));
const engine = await Engine.start({ wasm: await readFile(given.wasm), workers: given.workers ?? 1, gpu: "off" });

/** A path as a file of the browser, or an address as it is. */
const source = (path) => (path && !/^https?:/.test(path) ? openAsBlob(path) : (path ?? undefined));
const named = async (path) => path && { name: basename(path), data: await source(path) };

const [name, fasta, fai, gzi] = given.reference;
const inputs = {
  alignments: await Promise.all(
    given.bam.map(async ([own, data, index]) => ({ name: own, data: await source(data), index: await source(index) })),
  ),
  reference: { name, fasta: await source(fasta), fai: await source(fai), gzi: await source(gzi) },
  variants: await named(given.variants),
  intervals: await named(given.intervals),
  region: given.region,
  strModel: await named(given.strModel),
  pedigree: await named(given.pedigree),
};
let vcf = "";
const tables = [];
let companion = haplotypesHeader();
const events = [];
const controller = new AbortController();
let regions = 0;
const started = performance.now();
let first;
try {
  for await (const event of run(inputs, given.options ?? {}, engine, controller.signal)) {
    if (event.kind === "begin") {
      vcf += vcfHeader(event, given.options);
      tables.push(tsvHeader(event.model));
    } else if (event.kind === "region") {
      first ??= performance.now() - started;
      vcf += event.records;
      tables.push(event.likelihoods);
      companion += event.haplotypes;
      if (++regions === given.abortAfter) controller.abort();
    } else if (event.kind === "rest") vcf += event.records;
    else if (event.kind !== "progress") events.push(event);
  }
  if (given.vcf) await writeFile(given.vcf, vcf);
  if (given.tsv) await writeFile(given.tsv, tables);
  if (given.companion) await writeFile(given.companion, companion);
} catch (error) {
  if (error.name !== "InputProblem" && error.name !== "AbortError") throw error;
  events.push({ kind: "error", text: error.message });
}
console.log(JSON.stringify({ events, seconds: (performance.now() - started) / 1000, first: first / 1000 }));
engine.close();
