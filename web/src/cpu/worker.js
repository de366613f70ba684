// A worker: one instance of our C++, which scores the batches that it is sent one after another.

import { ERROR } from "../models/parameters.js";
import { CpuForward } from "./forward.js";
import { instantiate } from "./instance.js";

/** @typedef {import("../batch.js").Batch} Batch */

/**
 * What a worker is sent: first the module, then batches.
 *
 * @typedef {{module: WebAssembly.Module} | {batch: Batch, longestFastRead: number}} Request
 */

/**
 * What it sends back for each: scores, or why there are none. After a failure it is of no more use.
 *
 * @typedef {{log10: Float64Array, precision: Uint8Array} | {ready: true} | {failed: string}} Answer
 */

const port = /** @type {any} */ (
  globalThis.process?.getBuiltinModule?.("node:worker_threads").parentPort ?? globalThis
);

/** @type {CpuForward | undefined} */
let cpu;

/** @param {Request} request */
async function answer(request) {
  if ("module" in request) {
    cpu = new CpuForward(await instantiate(request.module), ERROR);
    return port.postMessage(/** @type {Answer} */ ({ ready: true }));
  }
  if (cpu === undefined) throw new Error("no module came before the batch");
  const { log10, precision } = cpu.forward(request.batch, request.longestFastRead);
  port.postMessage(/** @type {Answer} */ ({ log10, precision }), [log10.buffer, precision.buffer]);
}

/** @param {unknown} error */
function fail(error) {
  const isTrap = error instanceof WebAssembly.RuntimeError;
  const failed = isTrap ? `the C++ part failed (${error.message}); it may lack memory` : String(error);
  port.postMessage(/** @type {Answer} */ ({ failed }));
}

if (port === globalThis) port.onmessage = (/** @type {MessageEvent} */ { data }) => answer(data).catch(fail);
else port.on("message", (/** @type {Request} */ data) => answer(data).catch(fail));
