// Scores of batches by the kernels of shaders/forward/ on a WebGPU device (pairhmm/backends/webgpu/backend.py).

import { Native } from "../cpu/native.js";
import { ERROR } from "../models/parameters.js";
import { piecesOf, takeReads } from "../pieces.js";
import { Device, OutOfDeviceMemory, Unavailable } from "./device.js";
import { extensionOf, pack, partsOf, takes } from "./layout.js";
import { Slot } from "./slot.js";
import { deviceScores } from "./staging.js";

/** @import { Batch } from "../batch.js" */
/** @import { Scores } from "../cpu/forward.js" */
/** @import { DeviceTier, Packed, Work } from "./layout.js" */
/** @import { GpuData, Variant } from "./variants.js" */

/**
 * A dispatch of `items` workgroups, and whether it rescues listed pairs.
 *
 * @typedef {{pipeline: GPUComputePipeline, work: Work, items: number, rescues: boolean, cells: number}} Dispatch
 */

export { OutOfDeviceMemory, Unavailable };

const CHUNK_CELLS = { gpu: 4e9, software: 1e8 }; // most cells of a call
const LEAST_CHUNK_CELLS = 1e7; // a device without memory for that is of no use
const FIRST_SPEED = { gpu: 2e10, software: 1e8 }; // cells a second, until a call has been measured
const LEAST_SHARE = 0.1; // of a submission: smaller calls measure the device's latency
const PAIR_BYTES = 32; // of a pair in the largest buffers: its score, its entry in a list, and its work item
const CONCURRENT = 2; // calls, so that one is packed while the other is computed
const MOST_WORKGROUPS = 65535; // of a dispatch in one dimension

/** What scores batches on a GPU. `Gpu.start` makes one. */
export class Gpu {
  /** @type {Slot[]} */
  #slots = [];
  #isClosed = false;

  /** @param {Device} device @param {Native} native @param {(message: string) => void} log */
  constructor(device, native, log) {
    this.device = device;
    this.native = native;
    this.log = log;
    const kind = device.isSoftware ? "software" : "gpu";
    this.chunkCells = CHUNK_CELLS[kind];
    this.speed = FIRST_SPEED[kind];
    this.part = device.isSoftware ? device.data.parts.software : device.data.parts.gpu;
    /** Resolves with the reason when the device is lost. It never does after `close`. @type {Promise<string>} */
    this.lost = new Promise((resolve) => {
      device.device.lost.then(({ message, reason }) => this.#isClosed || resolve(message || reason));
    });
  }

  /**
   * @param {object} options
   * @param {BufferSource | WebAssembly.Module} options.wasm the file pairhmm.wasm
   * @param {GpuData} options.data what Python exports of the kernels
   * @param {(message: string) => void} [options.log]
   * @param {boolean} [options.shuffles] whether lanes may hand values on by subgroup shuffles, if the device has them
   * @param {boolean} [options.allowsSoftware] whether a program may stand for a GPU
   * @param {GPU} [options.gpu] the browser's own where it is missing
   * @returns {Promise<Gpu>}
   * @throws {Unavailable} with the reason
   */
  static async start({ wasm, data, log = () => {}, shuffles = true, allowsSoftware = true, gpu }) {
    const device = await Device.start(data, { gpu, shuffles, allowsSoftware, log });
    return new Gpu(device, await Native.start(wasm), log);
  }

  /** Such as "WebGPU (nvidia h200), shuffles". */
  get description() {
    return `WebGPU (${this.device.name}), ${this.device.subgroup > 0 ? "shuffles" : "workgroup memory"}`;
  }

  /**
   * Scores of every pair of a batch; NaN where a pair needs the rescue on the CPU.
   *
   * @param {Batch} batch
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<Scores>}
   * @throws {unknown} the signal's reason; an `Error` where the device is lost or has too little memory
   */
  async forward(batch, { signal } = {}) {
    const scores = { log10: new Float64Array(batch.pairs).fill(NaN), precision: new Uint8Array(batch.pairs) };
    if (!takes(batch)) return scores;
    /** @type {Set<Promise<void>>} */
    const underWay = new Set();
    const mostPairs = Math.floor(this.device.largestBuffer / PAIR_BYTES);
    try {
      for (const { first, end, pair } of piecesOf(batch, () => this.chunkCells, mostPairs)) {
        signal?.throwIfAborted();
        const isWhole = end - first === batch.readOffset.length - 1;
        const call = this.#scored(isWhole ? batch : takeReads(batch, first, end)).then((of) => {
          scores.log10.set(of.log10, pair);
          scores.precision.set(of.precision, pair);
          underWay.delete(call);
        });
        underWay.add(call);
        if (underWay.size >= CONCURRENT) await Promise.race(underWay);
      }
      await Promise.all(underWay);
    } finally {
      await Promise.allSettled(underWay);
    }
    signal?.throwIfAborted();
    return scores;
  }

  close() {
    this.#isClosed = true;
    this.device.device.destroy();
  }

  /**
   * Scores of a chunk. One that has no room is scored in halves.
   *
   * @param {Batch} batch
   * @returns {Promise<Scores>}
   */
  async #scored(batch) {
    const slot = this.#slots.pop() ?? new Slot(this.device);
    try {
      const scores = await this.#scoredIn(slot, batch);
      this.#slots.push(slot);
      return scores;
    } catch (error) {
      slot.release();
      const isTooMuch = error instanceof OutOfDeviceMemory && this.chunkCells > LEAST_CHUNK_CELLS;
      if (!isTooMuch) throw error;
      this.chunkCells /= 2;
      this.log(`the GPU lacks memory: it gets calls of ${this.chunkCells.toExponential(1)} cells`);
      return this.forward(batch);
    }
  }

  /** @param {Slot} slot @param {Batch} batch @returns {Promise<Scores>} */
  async #scoredIn(slot, batch) {
    const { data } = this.device;
    const packed = this.#packed(batch);
    const dispatches = await this.#dispatches(packed, batch);
    const begin = performance.now();
    await this.device.checked(() => {
      this.#upload(slot, packed, dispatches);
      this.#submit(slot, packed, dispatches);
    });
    const staging = slot.get("staging");
    await staging.mapAsync(GPUMapMode.READ, 0, packed.outBytes);
    this.#noteSpeed(dispatches, (performance.now() - begin) / 1000);
    const out = new Uint32Array(staging.getMappedRange(0, packed.outBytes));
    const isOrdered = out[packed.unorderedAt] === 0;
    const scores = isOrdered ? deviceScores(this.native, batch, out, data) : undefined;
    staging.unmap();
    if (scores) return scores;
    this.log(`${this.device.name}: subgroups change their size; lanes use workgroup memory instead`);
    this.device.subgroup = 0;
    return this.#scoredIn(slot, batch);
  }

  /** @param {Batch} batch */
  #packed(batch) {
    return pack(this.device.data, this.native, batch, this.device.subgroup, this.device.largestBuffer);
  }

  /**
   * Updates the speed, which falls slowly: other calls, and the page itself, may have kept the device waiting.
   *
   * @param {Dispatch[]} dispatches
   * @param {number} seconds
   */
  #noteSpeed(dispatches, seconds) {
    const cells = dispatches.reduce((sum, dispatch) => sum + dispatch.cells, 0);
    if (cells > this.#submitCells * LEAST_SHARE) this.speed = Math.max(cells / seconds, this.speed / 2);
  }

  /** Most cells of a submission: browsers end those that take long. */
  get #submitCells() {
    return this.speed * this.device.data.constants.submitSeconds;
  }

  /** @param {Packed} packed @param {Batch} batch @returns {Promise<Dispatch[]>} */
  async #dispatches(packed, batch) {
    const { data } = this.device;
    const extension = extensionOf(batch, ERROR);
    /** @type {"kinds" | "qualities"} */
    const from = batch.rows.length > 0 ? "kinds" : "qualities";
    const fast = packed.tiers.map((tier) => this.device.pipeline(this.#variant(tier, from, extension)));
    const scaled = packed.rescues.map(({ lanes, rows }) => {
      const part = data.rescaleSteps[rows];
      const shuffles = lanes <= this.device.subgroup;
      return this.device.pipeline({ kernel: "forward_scaled", lanes: 1, rows, shuffles, from, extension, part });
    });
    const isWalk = packed.tiers.some(({ walkers }) => walkers > 0);
    const shared = this.#treeExtension(extension) === null ? null : 0;
    const made = { lanes: 1, rows: 1, shuffles: false, from, extension: shared, part: this.part };
    const makesRows = isWalk ? await this.device.pipeline({ kernel: "forward_tree_rows", ...made }) : undefined;
    const pipelines = await Promise.all([...fast, ...scaled]);
    /** @type {Dispatch[]} */
    const dispatches = [];
    packed.tiers.forEach((tier, index) => {
      const each = tier.cells / tier.items;
      for (const work of partsOf(tier, Math.floor(this.#submitCells / Math.max(1, each)), data)) {
        const items = work.get("end_item") - work.get("first_item");
        const part = { pipeline: pipelines[index], work, items, rescues: false, cells: each * items };
        if (makesRows && tier.walkers > 0) {
          part.items = Math.min(items, tier.walkers);
          work.put({ counter: this.#countersAt + dispatches.length, walkers: part.items });
          dispatches.push({ pipeline: makesRows, work, items, rescues: false, cells: 0 });
        }
        dispatches.push(part);
      }
    });
    packed.rescues.forEach(({ work, workgroups }, index) => {
      const pipeline = pipelines[fast.length + index];
      work.put({ counter: this.#countersAt + dispatches.length });
      dispatches.push({ pipeline, work, items: workgroups, rescues: true, cells: 0 });
    });
    return dispatches;
  }

  /**
   * @param {DeviceTier} tier
   * @param {"kinds" | "qualities"} from
   * @param {number | null} extension
   * @returns {Variant}
   */
  #variant({ kernel, lanes, rows, walkers }, from, extension) {
    const shuffles = lanes <= this.device.subgroup;
    if (walkers === 0) return { kernel, lanes, rows, shuffles, from, extension, part: this.part };
    const part = this.device.isSoftware ? this.part : this.device.data.parts.trees;
    const own = { kernel, lanes: 1, rows, shuffles, extension: this.#treeExtension(extension), part };
    return { ...own, from: from === "qualities" ? from : "folded" }; // with masks or without
  }

  /** A software adapter compiles slowly: it has one text for every extension. @param {number | null} extension */
  #treeExtension(extension) {
    return this.device.isSoftware ? null : extension;
  }

  /** Word of "listed" at which the counters of dispatches begin, behind those of the lists. */
  get #countersAt() {
    return this.device.data.rescuers.length;
  }

  /** @param {Slot} slot @param {Packed} packed @param {Dispatch[]} dispatches */
  #upload(slot, packed, dispatches) {
    const { queue } = this.device.device;
    const { workStride } = this.device.data.constants;
    const into = slot.makeRoom("in", packed.arrays.length + packed.behind.length);
    queue.writeBuffer(into, 0, packed.arrays);
    queue.writeBuffer(into, packed.arrays.length, packed.behind);
    const blocks = new Uint8Array(workStride * Math.max(1, dispatches.length));
    dispatches.forEach(({ work }, index) => blocks.set(work.bytes, index * workStride));
    queue.writeBuffer(slot.makeRoom("work", blocks.length), 0, blocks);
    slot.makeRoom("out", packed.outBytes);
    slot.makeRoom("staging", packed.outBytes);
    slot.makeRoom("list", packed.listBytes);
    slot.makeRoom("scratch", packed.scratchBytes);
    slot.makeRoom("listed", 4 * (this.#countersAt + dispatches.length));
  }

  /** Submits dispatches, which run one after the other. The last submission copies the results to "staging". @param {Slot} slot @param {Packed} packed @param {Dispatch[]} dispatches */
  #submit(slot, packed, dispatches) {
    const { device } = this.device;
    const groups = [this.#bindGroup(slot, 0), this.#bindGroup(slot, 1)];
    const parts = this.#submissions(dispatches);
    parts.forEach((part, number) => {
      const encoder = device.createCommandEncoder();
      if (number === 0) {
        encoder.clearBuffer(slot.get("out"), 0, packed.outBytes);
        encoder.clearBuffer(slot.get("listed"));
      }
      const pass = encoder.beginComputePass();
      for (const index of part) {
        const { pipeline, items, rescues } = dispatches[index];
        pass.setPipeline(pipeline);
        const offset = index * this.device.data.constants.workStride;
        pass.setBindGroup(0, groups[Number(rescues)], [offset]);
        pass.dispatchWorkgroups(...grid(items));
      }
      pass.end();
      if (number === parts.length - 1) {
        encoder.copyBufferToBuffer(slot.get("out"), 0, slot.get("staging"), 0, packed.outBytes);
      }
      device.queue.submit([encoder.finish()]);
    });
  }

  /** Dispatches of each submission, as indices. @param {Dispatch[]} dispatches @returns {number[][]} */
  #submissions(dispatches) {
    const { mostDispatches } = this.device.data.constants;
    /** @type {number[][]} */
    const parts = [[]];
    let taken = 0;
    dispatches.forEach(({ cells }, index) => {
      const last = parts[parts.length - 1];
      if (last.length > 0 && (taken + cells > this.#submitCells || last.length === mostDispatches)) {
        parts.push([]);
        taken = 0;
      }
      parts[parts.length - 1].push(index);
      taken += cells;
    });
    return parts;
  }

  /** @param {Slot} slot @param {0 | 1} layout 0 for kernels of tiles, 1 for those that rescue */
  #bindGroup(slot, layout) {
    const { device, layouts, tables, data } = this.device;
    /** @type {GPUBuffer[]} */
    const buffers = [slot.get("in"), tables, slot.get("work"), slot.get("out"), slot.get("listed"), slot.get("list")];
    if (layout === 0) buffers.push(slot.get("scratch"));
    return device.createBindGroup({
      layout: layouts[layout],
      entries: buffers.map((buffer, binding) => ({
        binding,
        resource: binding === 2 ? { buffer, size: data.constants.workStride } : { buffer },
      })),
    });
  }
}

/** Two dimensions with at least so many workgroups, and hardly more. @param {number} workgroups @returns {[number, number]} */
function grid(workgroups) {
  const rows = Math.ceil(workgroups / MOST_WORKGROUPS);
  return [Math.ceil(workgroups / rows), rows];
}
