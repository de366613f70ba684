// Which batches the GPU takes: those from the crossover on, which is measured once. Small ones are done sooner on the
// CPU, before a GPU has begun.

import { packBatch } from "../batch.js";
import { cellsOf } from "../pieces.js";
import { Gpu } from "./gpu.js";

/** @import { Batch, Group } from "../batch.js" */
/** @import { Scores } from "../cpu/forward.js" */
/** @import { CpuPool } from "../cpu/pool.js" */

const HAPLOTYPE = 320; // letters of a haplotype, and bases of a read, in what is measured
const READ = 150;
const SMALL = { groups: 1, reads: 16 }; // what a GPU takes is its latency
const CPU_SIZE = { groups: 1, reads: 400 };
const GPU_SIZE = { groups: 40, reads: 400 };
const RUNS = 3; // of which the shortest counts; a first one, which compiles, does not

/** A GPU beside the workers. */
export class GpuChoice {
  /** Cells of whole matrices from which on the GPU takes a batch. */
  crossover = 0;

  /** @param {Gpu} gpu @param {CpuPool} cpu @param {(message: string) => void} log */
  constructor(gpu, cpu, log) {
    this.gpu = gpu;
    this.cpu = cpu;
    this.log = log;
    this.isLost = false;
    gpu.lost.then((reason) => this.#give(`the GPU is lost: ${reason}`));
  }

  /** Such as "WebGPU (nvidia h200), shuffles, for batches from 2.1 million cells on". */
  get description() {
    const { description } = this.gpu;
    if (this.isLost || this.crossover === Infinity) return "";
    const from = `for batches from ${(this.crossover / 1e6).toPrecision(2)} million cells on`;
    return this.crossover === 0 ? description : `${description}, ${from}`;
  }

  /** @param {Batch} batch */
  takes(batch) {
    return !this.isLost && cellsOf(batch) >= this.crossover;
  }

  /**
   * Scores of every pair. The workers complete what the GPU leaves, and take the batch where the GPU fails.
   *
   * @param {Batch} batch
   * @param {{signal?: AbortSignal}} options
   * @returns {Promise<Scores>}
   */
  async forward(batch, options) {
    let scores;
    try {
      scores = await Promise.race([this.gpu.forward(batch, options), this.gpu.lost.then(lost)]);
    } catch (error) {
      options.signal?.throwIfAborted();
      this.#give(`the GPU failed: ${/** @type {Error} */ (error).message}`);
      return this.cpu.forward(batch, options);
    }
    return this.cpu.forward(batch, { ...options, known: scores });
  }

  /** Measures from how many cells on the GPU is faster: never, if its speed is not above that of the workers. */
  async measure() {
    const latency = await shortest(() => this.gpu.forward(sample(SMALL)));
    const ofGpu = sample(GPU_SIZE);
    const each = (await shortest(() => this.gpu.forward(ofGpu))) / cellsOf(ofGpu);
    const ofCpu = sample(CPU_SIZE);
    const eachOfCpu = (await shortest(() => this.cpu.forward(ofCpu))) / cellsOf(ofCpu);
    this.crossover = crossover(latency, each, eachOfCpu);
    if (this.crossover === Infinity)
      this.log(`${this.gpu.description} is no faster than WebAssembly here: it is not used`);
  }

  close() {
    this.isLost = true;
    this.gpu.close();
  }

  /** @param {string} why */
  #give(why) {
    if (!this.isLost) this.log(`${why}; WebAssembly takes over`);
    this.isLost = true;
  }
}

/**
 * Cells from which on a device is faster that needs `latency` seconds and `each` a cell.
 *
 * @param {number} latency
 * @param {number} each
 * @param {number} eachOfCpu
 */
export function crossover(latency, each, eachOfCpu) {
  return eachOfCpu > each ? latency / (eachOfCpu - each) : Infinity;
}

/** @param {string} reason @returns {never} */
function lost(reason) {
  throw new Error(`it is lost: ${reason}`);
}

/** Seconds. @param {() => Promise<unknown>} run */
async function shortest(run) {
  await run();
  let seconds = Infinity;
  for (let count = 0; count < RUNS; count++) {
    const begin = performance.now();
    await run();
    seconds = Math.min(seconds, (performance.now() - begin) / 1000);
  }
  return seconds;
}

/** Groups like those of a small region: haplotypes that differ by single letters. @param {typeof SMALL} size */
function sample({ groups, reads }) {
  let state = 1;
  const next = (/** @type {number} */ below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  /** @returns {Group} */
  const group = () => {
    const first = Uint8Array.from({ length: HAPLOTYPE }, () => next(4));
    const haplotypes = Array.from({ length: 6 }, () => {
      const own = first.slice();
      for (let changes = 0; changes < 2; changes++) own[next(HAPLOTYPE)] = next(4);
      return own;
    });
    const read = () => {
      const at = next(HAPLOTYPE - READ);
      return { bases: haplotypes[next(6)].slice(at, at + READ), baseQuality: 30 };
    };
    return { haplotypes, reads: Array.from({ length: reads }, read) };
  };
  return packBatch(Array.from({ length: groups }, group));
}
