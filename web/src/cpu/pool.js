// Batches over workers, each with an instance of our C++. Nothing is shared: pieces are moved there and back.

import { cut, takeReads, takeUnscored } from "../pieces.js";
import { LONGEST_FAST_READ } from "./forward.js";
import { Thread } from "./thread.js";

/** @typedef {import("../batch.js").Batch} Batch */
/** @typedef {import("../pieces.js").Piece} Piece */
/** @typedef {import("./forward.js").Scores} Scores */

/** A batch under way. */
class Job {
  /** @param {Batch} batch @param {number} longestFastRead */
  constructor(batch, longestFastRead) {
    this.batch = batch;
    this.longestFastRead = longestFastRead;
    this.log10 = new Float64Array(batch.pairs);
    this.precision = new Uint8Array(batch.pairs);
    this.left = 0;
    this.isOver = false;
    /** @type {Promise<Scores>} */
    this.scores = new Promise((resolve, reject) => {
      this.end = () => ((this.isOver = true), resolve({ log10: this.log10, precision: this.precision }));
      this.fail = (/** @type {unknown} */ error) => ((this.isOver = true), reject(error));
    });
  }

  /** @param {Piece} piece @param {Scores} scores */
  take(piece, { log10, precision }) {
    this.log10.set(log10, piece.pair);
    this.precision.set(precision, piece.pair);
    if (--this.left === 0) this.end();
  }
}

/** Workers that score batches. */
export class CpuPool {
  /** @type {{job: Job, piece: Piece}[]} */
  #waiting = [];
  /** @type {Map<Thread, Job>} */
  #busy = new Map();
  /** @type {Thread[]} */
  #idle = [];
  #isClosed = false;

  /** @param {WebAssembly.Module} module @param {number} workers */
  constructor(module, workers) {
    this.module = module;
    this.workers = workers;
  }

  /**
   * @param {WebAssembly.Module} module
   * @param {number} workers
   * @throws {Error} where workers can not be started
   */
  static async start(module, workers) {
    const pool = new CpuPool(module, workers);
    pool.#idle = Array.from({ length: workers }, () => new Thread(module));
    await Promise.all(pool.#idle.map((thread) => thread.ready));
    return pool;
  }

  /**
   * Scores of every pair of a batch.
   *
   * @param {Batch} batch
   * @param {{signal?: AbortSignal, longestFastRead?: number}} [options]
   * @returns {Promise<Scores>}
   * @throws {unknown} the signal's reason; an `Error` where a worker dies
   */
  async forward(batch, { signal, longestFastRead = LONGEST_FAST_READ } = {}) {
    signal?.throwIfAborted();
    if (this.#isClosed) throw new Error("the engine is closed");
    const job = new Job(batch, longestFastRead);
    const pieces = cut(batch, this.workers);
    job.left = pieces.length;
    if (pieces.length === 0) job.end?.();
    const cancel = () => this.#cancel(job, signal?.reason);
    signal?.addEventListener("abort", cancel);
    this.#waiting.push(...pieces.map((piece) => ({ job, piece })));
    this.#next();
    try {
      return await job.scores;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  /**
   * Scores, in float64, the pairs that have none (NaN).
   *
   * @param {Batch} batch
   * @param {Scores} scores of the batch, which are completed
   * @param {{signal?: AbortSignal}} [options]
   */
  async rescue(batch, scores, { signal } = {}) {
    const unscored = takeUnscored(batch, scores.log10);
    const { log10, precision } = await this.forward(unscored.batch, { signal, longestFastRead: 0 });
    unscored.pairs.forEach((pair, index) => {
      scores.log10[pair] = log10[index];
      scores.precision[pair] = precision[index];
    });
  }

  close() {
    this.#isClosed = true;
    const error = new Error("the engine is closed");
    for (const { job } of this.#waiting.splice(0)) job.fail?.(error);
    for (const job of this.#busy.values()) job.fail?.(error);
    for (const thread of [...this.#busy.keys(), ...this.#idle.splice(0)]) thread.stop("the engine is closed");
  }

  /** Gives waiting pieces to workers; in place of those that stopped it starts others. */
  #next() {
    while (this.#waiting.length > 0 && this.#busy.size < this.workers) {
      const { job, piece } = /** @type {{job: Job, piece: Piece}} */ (this.#waiting.shift());
      if (!job.isOver) this.#run(job, piece, this.#idle.pop() ?? new Thread(this.module));
    }
  }

  /** @param {Job} job @param {Piece} piece @param {Thread} thread */
  async #run(job, piece, thread) {
    this.#busy.set(thread, job);
    try {
      const scores = await thread.forward(takeReads(job.batch, piece.first, piece.end), job.longestFastRead);
      if (!job.isOver) job.take(piece, scores);
    } catch (error) {
      if (!job.isOver) job.fail?.(error);
    } finally {
      this.#busy.delete(thread);
      if (!thread.isDead) this.#idle.push(thread);
      this.#next();
    }
  }

  /**
   * Ends a job, and the workers that are at it: their pieces may take long.
   *
   * @param {Job} job
   * @param {unknown} reason
   */
  #cancel(job, reason) {
    job.fail?.(reason);
    for (const [thread, own] of this.#busy) if (own === job) thread.stop("the batch was cancelled");
  }
}
