// The page's worker: runs from files to genotypes, and writes the texts to download. The page stays free to answer.

import { explain } from "../call/explain.js";
import { run } from "../call/run.js";
import { haplotypesHeader, tsvHeader, vcfHeader } from "../call/headers.js";
import { Engine } from "../engine.js";
import { panelOf } from "./panels.js";
import { resultOf } from "./results.js";

/** @import { BeginEvent, RegionEvent } from "../call/events.js" */
/** @import { CallOptions } from "../call/options.js" */
/** @import { Inputs } from "../call/run.js" */

/**
 * What the page asks for.
 *
 * @typedef {{kind: "start", wasm: ArrayBuffer, kernels: import("../gpu/variants.js").GpuData, gpu: "auto" | "off"}} StartRequest
 * @typedef {{kind: "run", inputs: Inputs, options: Partial<CallOptions>, version: string}} RunRequest
 * @typedef {{kind: "explain", inputs: Inputs, options: Partial<CallOptions>, position: string}} ExplainRequest
 */

/** @type {Promise<Engine> | null} */
let started = null;

const tell = (/** @type {object} */ message) => self.postMessage(message);

self.onmessage = ({ data }) => {
  const request = /** @type {StartRequest | RunRequest | ExplainRequest} */ (data);
  const work =
    request.kind === "start" ? start(request) : request.kind === "run" ? runOnce(request) : explainOnce(request);
  work.catch((error) => tell({ kind: "problem", text: oneLine(error) }));
};

/** @param {StartRequest} request */
async function start({ wasm, kernels, gpu }) {
  const log = (/** @type {string} */ text) => tell({ kind: "engine", text });
  started = Engine.start({ wasm, kernels, gpu, log });
  const engine = await started;
  tell({ kind: "ready", description: engine.description });
  await engine.chosen;
  tell({ kind: "ready", description: engine.description });
}

/** @param {RunRequest} request */
async function runOnce({ inputs, options, version }) {
  if (!started) throw new Error("no engine was started");
  const engine = await started;
  /** @type {Texts | null} */
  let texts = null;
  for await (const event of run(inputs, options, engine)) {
    if (event.kind === "begin") texts = new Texts(event, options, { version, backend: engine.description });
    if (event.kind === "region") {
      await texts?.add(event);
      tell({ kind: "region", result: resultOf(event, panelOf(event)) });
    } else if (event.kind === "rest") await texts?.records.write(event.records);
    else if (event.kind === "end") tell({ ...event, downloads: await texts?.whole() });
    else tell(event);
  }
}

/** @param {ExplainRequest} request */
async function explainOnce({ inputs, options, position }) {
  if (!started) throw new Error("no engine was started");
  tell({ kind: "explained", explanation: await explain(inputs, options, await started, position) });
}

const OUTPUTS = /** @type {const} */ (["records", "likelihoods", "haplotypes"]);

/** The texts of a run, as they grow. */
class Texts {
  /**
   * @param {BeginEvent} begin
   * @param {Partial<CallOptions>} options
   * @param {{version: string, backend: string}} made
   */
  constructor(begin, options, { version, backend }) {
    const provenance = {
      fileDate: new Date().toISOString().slice(0, 10).replaceAll("-", ""),
      source: `pairhmm ${version}`,
      pairhmmVersion: version,
      pairhmmBackend: backend,
      pairhmmModel: begin.model,
    };
    this.records = new Download(vcfHeader(begin, options, provenance), false);
    this.likelihoods = new Download(tsvHeader(), true);
    this.haplotypes = new Download(haplotypesHeader(begin.model), true);
  }

  /** @param {RegionEvent} event */
  async add(event) {
    for (const name of OUTPUTS) await this[name].write(event[name]);
  }

  async whole() {
    const all = OUTPUTS.map(async (name) => [name, await this[name].whole()]);
    return Object.fromEntries(await Promise.all(all));
  }
}

/** @param {any} error */
const oneLine = (error) => String(error?.message ?? error).replace(/\s+/g, " ");

const PIECE = 1 << 20; // bytes of text that are made a blob of

/** A text that grows, gzipped or not. */
class Download {
  /** @param {string} header @param {boolean} isGzipped */
  constructor(header, isGzipped) {
    this.isGzipped = isGzipped;
    /** @type {(string | Uint8Array<ArrayBuffer>)[]} */
    this.waiting = [header];
    this.waitingSize = header.length;
    /** @type {Blob[]} */
    this.parts = [];
  }

  /** @param {string | Uint8Array<ArrayBuffer>} text */
  async write(text) {
    this.waiting.push(text);
    this.waitingSize += text.length;
    if (this.waitingSize >= PIECE) await this.#putAway();
  }

  /** All of it. @returns {Promise<Blob>} */
  async whole() {
    await this.#putAway();
    return new Blob(this.parts, { type: this.isGzipped ? "application/gzip" : "text/plain" });
  }

  // Members of a gzip file that follow each other are one file (RFC 1952).
  async #putAway() {
    const text = new Blob(this.waiting);
    this.waiting = [];
    this.waitingSize = 0;
    if (!this.isGzipped) this.parts.push(text);
    else if (text.size) {
      const packed = text.stream().pipeThrough(new CompressionStream("gzip"));
      this.parts.push(await new Response(packed).blob());
    }
  }
}
