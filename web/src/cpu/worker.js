// A worker: one instance of our C++, which scores the batches that it is sent one after another.

import { forward } from "./forward.js";
import { Native } from "./native.js";

/** @import { Batch } from "../batch.js" */
/** @import { Scores } from "./forward.js" */

/** @typedef {{module: WebAssembly.Module} | {batch: Batch, known?: Scores}} Request first the module, then batches */
/** @typedef {Scores | {ready: true} | {failed: string}} Answer to each; after a failure a worker is of no more use */

const port = /** @type {any} */ (
  globalThis.process?.getBuiltinModule?.("node:worker_threads").parentPort ?? globalThis
);

/** @type {Native | undefined} */
let native;

/** @param {Request} request */
async function answer(request) {
  if ("module" in request) {
    native = await Native.start(request.module);
    return port.postMessage(/** @type {Answer} */ ({ ready: true }));
  }
  if (native === undefined) throw new Error("no module came before the batch");
  const { log10, precision } = forward(native, request.batch, request.known);
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
