// Batches over workers, each with an instance of our C++. Nothing is shared: pieces are moved there and back.

import { cut, takeReads } from "../pieces.js";
import { Thread } from "./thread.js";

/** @import { Batch } from "../batch.js" */
/** @import { Piece } from "../pieces.js" */
/** @import { Scores } from "./forward.js" */

/** A batch under way. */
class Job {
  /** @param {Batch} batch @param {Scores} [known] */
  constructor(batch, known) {
    this.batch = batch;
    this.isRescue = known !== undefined;
    this.log10 = known?.log10 ?? new Float64Array(batch.pairs);
    this.precision = known?.precision ?? new Uint8Array(batch.pairs);
    this.left = 0;
    this.isOver = false;
    /** @type {Promise<Scores>} */
    this.scores = new Promise((resolve, reject) => {
      this.end = () => ((this.isOver = true), resolve({ log10: this.log10, precision: this.precision }));
      this.fail = (/** @type {unknown} */ error) => ((this.isOver = true), reject(error));
    });
  }

  /** The piece as a batch, and its scores where only those that are NaN are wanted. @param {Piece} piece @returns {[Batch, Scores?]} */
  part({ first, end, pair }) {
    const batch = takeReads(this.batch, first, end);
    if (!this.isRescue) return [batch];
    const own = [pair, pair + batch.pairs];
    return [batch, { log10: this.log10.slice(...own), precision: this.precision.slice(...own) }];
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
   * Scores of every pair of a batch, or, in float64, of those whose known score is NaN.
   *
   * @param {Batch} batch
   * @param {{signal?: AbortSignal, known?: Scores}} [options] known scores are completed
   * @returns {Promise<Scores>}
   * @throws {unknown} the signal's reason; an `Error` where a worker dies
   */
  async forward(batch, { signal, known } = {}) {
    signal?.throwIfAborted();
    if (this.#isClosed) throw new Error("the engine is closed");
    const job = new Job(batch, known);
    const pieces = cut(batch, this.workers).filter((piece, index, all) => {
      return known?.log10.subarray(piece.pair, all[index + 1]?.pair).some(Number.isNaN) ?? true;
    });
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
      const scores = await thread.forward(...job.part(piece));
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
