// What the benchmark page measures, one figure after the other.

import { CpuForward } from "../cpu/forward.js";
import { instantiate } from "../cpu/instance.js";
import { CpuPool } from "../cpu/pool.js";
import { cellsOf } from "../gpu/choice.js";
import { Gpu } from "../gpu/gpu.js";
import { LongPairs } from "../gpu/long.js";
import { ERROR } from "../models/parameters.js";
import { median, timed } from "./data.js";
import { makePair, makeWorkload } from "./inputs.js";
import { Ladder } from "./ladder.js";
import { Primitives, expected, integers } from "./primitives.js";

/** @typedef {import("../gpu/variants.js").GpuData} GpuData */
/** @typedef {import("./data.js").BenchmarkData} BenchmarkData */

/**
 * A figure: what was measured, at which size, by which way. `value` is the median of `seconds`, or a speed in GCUPS.
 *
 * @typedef {object} Figure
 * @property {"ladder" | "batches" | "primitives"} section
 * @property {string} way
 * @property {number | string} size
 * @property {number} value
 * @property {number[]} seconds
 * @property {number} [difference] from float64, over the size of that where it is above 1
 */

/**
 * @typedef {object} Given
 * @property {WebAssembly.Module} wasm
 * @property {GpuData} kernels
 * @property {BenchmarkData} data
 * @property {number} workers
 * @property {number} longest bases of the longest pair
 * @property {GPU} [gpu] the browser's own where it is missing
 * @property {(message: string) => void} log told what is being measured, and what is left out
 * @property {AbortSignal} signal
 */

const LENGTHS = [100, 1_000, 10_000, 100_000];
const MOST_WAITS = 2_001; // round trips of the baseline, which take minutes beyond
const MOST_GROUPS = 20_001; // bind groups of one for each diagonal
const LONGEST_ON_CPU = 10_000;
const REGIONS = { gpu: 100, software: 2, cpu: 6 };
const MOST_INTEGERS_IN_SOFTWARE = 100_000;
const GIGA = 1e9;

/**
 * Measures everything.
 *
 * @param {Given} given
 * @returns {AsyncGenerator<{device: Gpu | null} | Figure>} the device first
 * @throws {unknown} the signal's reason
 */
export async function* measure(given) {
  const gpu = await started(given);
  try {
    yield { device: gpu };
    if (gpu) yield* ofPrimitives(gpu, given);
    yield* ofBatches(gpu, given);
    yield* ofLadder(gpu, given);
  } finally {
    gpu?.close();
  }
}

/** @param {Given} given */
async function started({ wasm, kernels, log, gpu }) {
  try {
    return await Gpu.start({ wasm, data: kernels, log, gpu });
  } catch (error) {
    log(`No GPU is measured: ${/** @type {Error} */ (error).message}`);
    return null;
  }
}

/** @param {Gpu} gpu @param {Given} given @returns {AsyncGenerator<Figure>} */
async function* ofPrimitives({ device }, { data, log, signal }) {
  const primitives = new Primitives(device, data);
  for (const size of data.primitives.sizes) {
    if (device.isSoftware && size > MOST_INTEGERS_IN_SOFTWARE) break;
    const values = integers(size);
    for (const way of Object.keys(data.primitives.entries)) {
      signal.throwIfAborted();
      log(`${way} of ${size.toLocaleString("en")} integers`);
      const { seconds, result } = await primitives.seconds(way, values, size > 1e6 ? 5 : 20);
      const right = expected(way, values);
      if (!right.every((value, index) => value === result[index])) log(`${way} of ${size} integers is wrong here`);
      yield { section: "primitives", way, size, value: median(seconds), seconds };
    }
  }
}

/** @param {Gpu | null} gpu @param {Given} given @returns {AsyncGenerator<Figure>} */
async function* ofBatches(gpu, { wasm, workers, data, log, signal }) {
  const pools = await Promise.all([...new Set([1, workers])].map((count) => CpuPool.start(wasm, count)));
  try {
    for (const [size, workload] of Object.entries(data.workloads)) {
      /** @param {string} way @param {number} cells @param {number[]} seconds @returns {Figure} */
      const figure = (way, cells, seconds) => {
        return { section: "batches", way, size, value: cells / GIGA / median(seconds), seconds };
      };
      if (gpu) {
        log(`${size} on the GPU`);
        const batch = makeWorkload(workload, gpu.device.isSoftware ? REGIONS.software : REGIONS.gpu, data);
        const arrays = await timed(() => gpu.forward(batch), 5);
        yield figure("GPU, from arrays", cellsOf(batch), arrays);
        yield figure("GPU, kernels alone", cellsOf(batch), await gpu.kernelSeconds(batch, 5));
      }
      const batch = makeWorkload(workload, REGIONS.cpu, data);
      for (const pool of pools) {
        signal.throwIfAborted();
        log(`${size} on WebAssembly, ${pool.workers} worker${pool.workers === 1 ? "" : "s"}`);
        const seconds = await timed(() => pool.forward(batch), 3);
        yield figure(`WebAssembly, ${pool.workers} worker${pool.workers === 1 ? "" : "s"}`, cellsOf(batch), seconds);
      }
    }
  } finally {
    pools.forEach((pool) => pool.close());
  }
}

/** @param {Gpu | null} gpu @param {Given} given @returns {AsyncGenerator<Figure>} */
async function* ofLadder(gpu, { wasm, data, longest, log, signal }) {
  const cpu = new CpuForward(await instantiate(wasm), ERROR);
  const ladder = gpu && new Ladder(gpu.device, data);
  const long = gpu && new LongPairs(gpu.device, gpu.speed);
  for (const size of LENGTHS.filter((length) => length <= longest)) {
    const batch = makePair(size, data);
    const diagonals = 2 * size + 1;
    let right = NaN;
    /** @param {string} way @param {number[]} seconds @param {number} log10 @returns {Figure} */
    const figure = (way, seconds, log10) => {
      const difference = Math.abs(log10 - right) / Math.max(1, Math.abs(right));
      return { section: "ladder", way, size, value: median(seconds), seconds, difference };
    };
    if (size <= LONGEST_ON_CPU) {
      log(`${size.toLocaleString("en")} bases on WebAssembly, float64`);
      const seconds = await timed(async () => (right = cpu.forward(batch, 0).log10[0]), size > 1000 ? 1 : 5);
      yield figure("WebAssembly, float64", seconds, right);
    }
    if (!ladder || !long) continue;
    for (const rung of data.wavefront.ladder) {
      signal.throwIfAborted();
      if ((rung.waits && diagonals > MOST_WAITS) || (!rung.offsets && diagonals > MOST_GROUPS)) {
        log(`${size.toLocaleString("en")} bases: no ${rung.name}, which takes minutes`);
        continue;
      }
      log(`${size.toLocaleString("en")} bases: ${rung.name}`);
      const runs = [];
      for (let run = 0; run < (size > 10_000 ? 2 : 4); run++) runs.push(await ladder.score(batch, rung));
      const seconds = runs.slice(1).map((run) => run.seconds);
      yield figure(rung.name, seconds, runs[0].log10);
    }
    log(`${size.toLocaleString("en")} bases: ours`);
    let log10 = NaN;
    const seconds = await timed(async () => (log10 = await long.score(batch)), 5);
    yield figure("ours", seconds, log10);
  }
}
