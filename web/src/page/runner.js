// The page's side of its worker.

/**
 * What the worker tells.
 *
 * @typedef {{kind: "ready", description: string}
 *   | {kind: "begin", samples: string[]}
 *   | {kind: "region", result: import("./results.js").RegionResult}
 *   | {kind: "progress", done: number, of: number}
 *   | {kind: "engine" | "warning" | "note", text: string}
 *   | {kind: "end", counts: Record<string, number>, downloads: Record<string, Blob>}
 *   | {kind: "explained", explanation: import("../call/explain.js").Explanation}
 *   | {kind: "problem", text: string}} Message
 */

/** One worker, and a new one after a run was cancelled. */
export class Runner {
  /** @param {ArrayBuffer} program of the worker @param {ArrayBuffer} wasm @param {object} kernels @param {(message: Message) => void} listener */
  constructor(program, wasm, kernels, listener) {
    this.wasm = wasm;
    this.kernels = kernels;
    this.listener = listener;
    this.address = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
    /** @type {"auto" | "off"} */
    this.gpu = "auto";
    this.version = document.documentElement.dataset.version;
    this.worker = this.#start();
  }

  /** @param {object} inputs @param {object} options */
  run(inputs, options) {
    this.worker.postMessage({ kind: "run", inputs, options, version: this.version });
  }

  /** @param {object} inputs @param {object} options @param {string} position */
  explain(inputs, options, position) {
    this.worker.postMessage({ kind: "explain", inputs, options, position });
  }

  /** Ends what is under way at once, with its memory. */
  restart() {
    this.worker.terminate();
    this.worker = this.#start();
  }

  /** Whether a GPU may be used. @param {"auto" | "off"} gpu */
  allowGpu(gpu) {
    this.gpu = gpu;
    this.restart();
  }

  #start() {
    const worker = new Worker(this.address);
    worker.onmessage = ({ data }) => worker === this.worker && this.listener(data);
    worker.onerror = ({ message }) => worker === this.worker && this.listener({ kind: "problem", text: message });
    worker.postMessage({ kind: "start", wasm: this.wasm, kernels: this.kernels, gpu: this.gpu });
    return worker;
  }
}
