// One worker, in a browser or in Node.

import { buffersOf } from "../pieces.js";
import { PROGRAM } from "./worker_program.js";

/** @import { Batch } from "../batch.js" */
/** @import { Scores } from "./forward.js" */
/** @import { Request, Answer } from "./worker.js" */

const threads = globalThis.process?.getBuiltinModule?.("node:worker_threads");

/** A worker with an instance of our C++. It scores one batch at a time. */
export class Thread {
  /** @type {((answer: Answer) => void) | undefined} */
  #resolve;
  /** @type {((error: Error) => void) | undefined} */
  #reject;

  /** @param {WebAssembly.Module} module */
  constructor(module) {
    this.isDead = false;
    this.worker = threads ? this.#startInNode() : this.#startInBrowser();
    /** Rejects where the worker can not be started. */
    this.ready = this.#ask({ module }, []);
  }

  /**
   * @param {Batch} batch its arrays are moved to the worker
   * @param {Scores} [known] so are these, of which those that are NaN are wanted
   * @returns {Promise<Scores>}
   * @throws {Error} where the worker dies; it is of no more use then
   */
  async forward(batch, known) {
    await this.ready;
    const answer = await this.#ask({ batch, known }, buffersOf({ ...batch, ...known }));
    return /** @type {Scores} */ (answer);
  }

  /** @param {string} why */
  stop(why) {
    if (this.isDead) return;
    this.isDead = true;
    this.worker.terminate();
    this.#reject?.(new Error(`a worker of the engine stopped: ${why}`));
  }

  #startInNode() {
    const { Worker } = /** @type {NonNullable<typeof threads>} */ (threads);
    const worker = PROGRAM.url ? new Worker(PROGRAM.url) : new Worker(PROGRAM.text ?? "", { eval: true });
    worker.on("message", (answer) => this.#settle(answer));
    worker.on("error", (error) => this.stop(error.message));
    worker.on("exit", (code) => this.stop(`it ended with code ${code}`));
    this.#holdsProgram = (holds) => (holds ? worker.ref() : worker.unref());
    return worker;
  }

  #startInBrowser() {
    const worker = PROGRAM.url ? new Worker(PROGRAM.url, { type: "module" }) : workerOfText(PROGRAM.text ?? "");
    worker.onmessage = ({ data }) => this.#settle(data);
    worker.onerror = (event) => this.stop(event.message || "it could not be started");
    return worker;
  }

  /** Whether Node's program waits for the worker before it ends. @type {(holds: boolean) => void} */
  #holdsProgram = () => {};

  /**
   * @param {Request} request
   * @param {ArrayBuffer[]} moved
   * @returns {Promise<Answer>}
   */
  #ask(request, moved) {
    return new Promise((resolve, reject) => {
      if (this.isDead) return reject(new Error("a worker of the engine was stopped before it was asked"));
      this.#resolve = resolve;
      this.#reject = reject;
      this.#holdsProgram(true);
      this.worker.postMessage(request, moved);
    });
  }

  /** @param {Answer} answer */
  #settle(answer) {
    if ("failed" in answer) return this.stop(answer.failed);
    this.#holdsProgram(false);
    this.#resolve?.(answer);
  }
}

/** A worker whose program is a text: no module, which a page from file:// may not start. @param {string} text */
function workerOfText(text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  const worker = new Worker(url);
  worker.addEventListener("message", () => URL.revokeObjectURL(url), { once: true });
  return worker;
}
