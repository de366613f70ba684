// Scores of batches, by what is there: workers with our C++ as WebAssembly, and a GPU for large batches.

import { CpuPool } from "./cpu/pool.js";
import { GpuChoice } from "./gpu/choice.js";
import { Gpu } from "./gpu/gpu.js";

/** @import { Batch } from "./batch.js" */
/** @import { Scores } from "./cpu/forward.js" */

/**
 * @typedef {object} EngineOptions
 * @property {BufferSource | WebAssembly.Module} wasm the file pairhmm.wasm
 * @property {number} [workers] threads that score; as many as there are cores where it is missing
 * @property {"auto" | "off" | "only"} [gpu] with "auto" a GPU takes the batches that it is faster for, once it is ready,
 *   and no program that stands for a GPU is used; with "only" it takes all
 * @property {import("./gpu/variants.js").GpuData} [kernels] what is in gpu.json; without it no GPU is used
 * @property {(message: string) => void} [log] told what a user should know, such as a slower way that is taken
 */

/** What scores batches. `Engine.start` makes one. */
export class Engine {
  /** @type {GpuChoice | undefined} */
  gpu;
  #isClosed = false;

  /** @param {CpuPool} cpu @param {(message: string) => void} log */
  constructor(cpu, log) {
    this.cpu = cpu;
    this.log = log;
    /** Resolves when it is known whether a GPU is used. */
    this.chosen = Promise.resolve();
  }

  /** Our C++ as WebAssembly, for an instance of one's own. */
  get module() {
    return this.cpu.module;
  }

  /**
   * @param {EngineOptions} options
   * @returns {Promise<Engine>}
   * @throws {Error} where the module can not be compiled, its workers can not be started, or no GPU is there with "only"
   */
  static async start({ wasm, workers = cores(), gpu = "auto", kernels, log = () => {} }) {
    if (!(Number.isInteger(workers) && workers > 0)) throw new RangeError(`${workers} is no number of workers`);
    const module = wasm instanceof WebAssembly.Module ? wasm : await WebAssembly.compile(wasm);
    const engine = new Engine(await CpuPool.start(module, workers), log);
    if (kernels && gpu !== "off") engine.chosen = engine.#choose(kernels, gpu === "only");
    if (gpu === "only") await engine.chosen;
    return engine;
  }

  /** What scores, in words for a user. */
  get description() {
    const { workers } = this.cpu;
    const ofCpu = `WebAssembly SIMD, ${workers} worker${workers === 1 ? "" : "s"}`;
    const ofGpu = this.gpu?.description;
    return ofGpu ? `${ofGpu}; ${ofCpu}` : ofCpu;
  }

  /**
   * log10 P(read | haplotype) of every pair of a batch, and the arithmetic of each (0 float32, 1 float64).
   *
   * @param {Batch} batch
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<Scores>}
   * @throws {unknown} the signal's reason where it aborts; an `Error` where a worker dies
   */
  forward(batch, { signal } = {}) {
    return (this.gpu?.takes(batch) ? this.gpu : this.cpu).forward(batch, { signal });
  }

  /** Ends the workers, and gives the GPU back. Batches under way fail. */
  close() {
    this.#isClosed = true;
    this.cpu.close();
    this.gpu?.close();
  }

  /**
   * Looks for a GPU, and measures what it is good for.
   *
   * @param {import("./gpu/variants.js").GpuData} data
   * @param {boolean} isOnly
   */
  async #choose(data, isOnly) {
    /** @type {Gpu | undefined} */
    let gpu;
    try {
      gpu = await Gpu.start({ wasm: this.cpu.module, data, log: this.log, allowsSoftware: isOnly });
      const choice = new GpuChoice(gpu, this.cpu, this.log);
      if (!isOnly) await choice.measure();
      if (this.#isClosed || choice.crossover === Infinity) return gpu.close();
      this.gpu = choice;
    } catch (error) {
      gpu?.close();
      if (isOnly) throw error;
      if (!this.#isClosed) this.log(`no GPU is used: ${/** @type {Error} */ (error).message}`);
    }
  }
}

/** Cores of this machine. */
function cores() {
  const os = globalThis.process?.getBuiltinModule?.("node:os");
  return os ? os.availableParallelism() : navigator.hardwareConcurrency || 1;
}
