// The module pairhmm-web: likelihoods of reads given haplotypes, in browsers and Node.

import { Engine } from "./engine.js";
import { packModelBatch } from "./model.js";

/** @typedef {import("./batch.js").Batch} Batch */
/** @typedef {import("./batch.js").Group} Group */
/** @typedef {import("./batch.js").Read} Read */
/** @typedef {import("./cpu/forward.js").Scores} Scores */
/** @typedef {import("./engine.js").EngineOptions} EngineOptions */
/** @typedef {import("./model.js").Model} Model */

export { Engine, packModelBatch as packBatch };

/** @type {Promise<Engine> | undefined} */
let shared;

/**
 * log10 P(read | haplotype) of every read beside every haplotype.
 *
 * @param {Read[]} reads
 * @param {(string | Uint8Array)[]} haplotypes letters, or codes: A C G T are 0 to 3, N is 4
 * @param {object} [options]
 * @param {Model} [options.model] "gatk" where it is missing
 * @param {AbortSignal} [options.signal] ends the call, which then throws the signal's reason
 * @param {Engine} [options.engine] of `start`; where it is missing, one that all calls share, with a worker a core
 * @returns {Promise<Scores>} `log10[read * haplotypes.length + haplotype]`, and `precision`: the arithmetic of each
 *   score, 0 float32, 1 float64, 2 float32 with exponents of its own
 * @throws {RangeError} for an empty read or haplotype, and for qualities that do not fit their read
 */
export async function forward(reads, haplotypes, { model = "gatk", signal, engine } = {}) {
  const batch = packModelBatch([{ reads, haplotypes }], model);
  return (engine ?? (await (shared ??= start()))).forward(batch, { signal });
}

/**
 * An engine for many calls, or for batches of many regions (`packBatch`). `engine.close()` ends its workers.
 *
 * @param {Partial<EngineOptions>} [options] `wasm` and `kernels` are the module's own files where they are missing
 * @returns {Promise<Engine>}
 */
export async function start(options = {}) {
  const wasm = options.wasm ?? (await readOwn("pairhmm.wasm")).arrayBuffer();
  const kernels =
    options.kernels ?? (options.gpu === "off" || !hasGpu() ? undefined : (await readOwn("gpu.json")).json());
  return Engine.start({ ...options, wasm: await wasm, kernels: await kernels });
}

/** Whether a GPU may be asked for. */
function hasGpu() {
  return "gpu" in (globalThis.navigator ?? {});
}

/** A file beside the module. @param {string} name @returns {Promise<Response>} */
async function readOwn(name) {
  const url = new URL(name, import.meta.url);
  const files = globalThis.process?.getBuiltinModule?.("node:fs/promises");
  if (files) return new Response(await files.readFile(url));
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: status ${response.status}`);
  return response;
}
