// What the page shows of a run, as JSON: node report_data.mjs BAM INDEX FASTA FAI [most bytes of panels [model [mixture]]]

import { readFile } from "node:fs/promises";

import { run } from "../../web/src/call/run.js";
import { Native } from "../../web/src/cpu/native.js";
import { Engine } from "../../web/src/engine.js";
import { CONSTANTS, panelOf } from "../../web/src/page/panels.js";
import { Results, resultOf } from "../../web/src/page/results.js";

const [bam, index, fasta, fai, mostBytes = "1e9", model = "gatk", mixture] = process.argv.slice(2);
const [wasm, data, bai, reference, lengths] = await Promise.all(
  [new URL("../../build/web/pairhmm.wasm", import.meta.url), bam, index, fasta, fai].map((path) => readFile(path)),
);
const engine = await Engine.start({ wasm, workers: 1 });
const inputs = {
  alignments: [{ name: bam, data: new Blob([data]), index: new Blob([bai]) }],
  reference: { name: fasta, fasta: new Blob([reference]), fai: new Blob([lengths]) },
};
const native = Native.start(engine.module);
let results = new Results(native, []);
for await (const event of run(inputs, { model, mixture: Boolean(mixture) }, engine)) {
  if (event.kind === "begin") results = new Results(native, event.samples, Number(mostBytes));
  if (event.kind === "region") results.add(resultOf(event, panelOf(event)));
}
engine.close();
const plain = (_, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);
const opened = async (number) => {
  const panel = await results.report.panel(number);
  return { ...panel, groups: panel.groups.map((group) => ({ ...group, names: group.names.join("\n") })) };
};
const panels = await Promise.all(results.held.map(({ panel }, number) => panel && opened(number)));
console.log(JSON.stringify({ constants: CONSTANTS, sites: results.report.sites, panels, bytes: results.bytes }, plain));
