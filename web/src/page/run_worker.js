// The page's worker: runs from files to genotypes, and writes the texts to download. The page stays free to answer.

import { run } from "../call/run.js";
import { haplotypeHeader, haplotypeLines, likelihoodHeader, likelihoodLines } from "../call/tsv.js";
import { vcfHeader, vcfLine } from "../call/vcf.js";
import { Engine } from "../engine.js";
import { panelOf } from "./panels.js";
import { resultOf } from "./results.js";
import { Download } from "./downloads.js";

/** @typedef {import("./events.js").RunEvent} RunEvent */

/**
 * What the page asks for.
 *
 * @typedef {{kind: "start", wasm: ArrayBuffer, gpu: "auto" | "off"}
 *   | {kind: "run", inputs: object, options: object}} Request
 */

/** @type {Promise<Engine> | null} */
let engine = null;

const tell = (/** @type {object} */ message) => self.postMessage(message);

self.onmessage = ({ data }) => {
  const request = /** @type {Request} */ (data);
  const work = request.kind === "start" ? start(request) : runOnce(request);
  work.catch((error) => tell({ kind: "problem", text: oneLine(error), isInput: error?.name === "InputProblem" }));
};

/** @param {Request & {kind: "start"}} request */
async function start({ wasm, gpu }) {
  engine = Engine.start({ wasm, gpu, log: (/** @type {string} */ text) => tell({ kind: "warning", text }) });
  tell({ kind: "ready", description: (await engine).description });
}

/** @param {Request & {kind: "run"}} request */
async function runOnce({ inputs, options }) {
  if (!engine) throw new Error("no engine was started");
  const texts = { vcf: new Download(false), likelihoods: new Download(true), haplotypes: new Download(false) };
  const none = new AbortController(); // the page ends a run by ending this worker
  for await (const event of run(inputs, options, await engine, none.signal)) {
    if (event.kind === "begin") {
      await texts.vcf.write(vcfHeader(event, options));
      await texts.likelihoods.write(likelihoodHeader());
      await texts.haplotypes.write(haplotypeHeader());
    }
    if (event.kind !== "region") {
      if (event.kind !== "end") tell(event);
      else tell({ ...event, downloads: await wholeOf(texts) });
      continue;
    }
    await texts.vcf.write(event.sites.map(vcfLine).join(""));
    await texts.likelihoods.write(likelihoodLines(event));
    await texts.haplotypes.write(haplotypeLines(event));
    tell({ kind: "region", result: resultOf(event, panelOf(event)) });
  }
}

/** @param {Record<string, Download>} texts */
async function wholeOf(texts) {
  const blobs = await Promise.all(Object.entries(texts).map(async ([name, text]) => [name, await text.whole()]));
  return Object.fromEntries(blobs);
}

/** @param {any} error */
const oneLine = (error) => String(error?.message ?? error).replace(/\s+/g, " ");
