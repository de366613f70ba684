// One pair of any length (pairhmm/backends/webgpu/pair_layout.py and strips.py): rows in strips, which hand borders on, and
// long haplotypes in two halves.

import { ERROR } from "../models/parameters.js";
import { Plan, Work, extensionOf, planBatch } from "./layout.js";

/** @typedef {import("../batch.js").Batch} Batch */
/** @typedef {import("./device.js").Device} Device */

const SHORTEST_SEGMENT = 8; // lanes that shuffle, which are at most those of a strip
const ENTRY_BYTES = 16;
const WORD = 4;
const BORDERS_AT = 1; // the word at which the first border begins; word 0 says whether a strip has waited in vain
const MOST_DISPATCHES = 64; // of a submission

/** Scores single pairs on a device. */
export class LongPairs {
  /** @param {Device} device @param {number} speed cells a second, about */
  constructor(device, speed) {
    this.device = device;
    this.speed = speed;
    const { longLanes } = device.data.constants;
    const shuffling = Math.min(device.subgroup, longLanes);
    this.segment = shuffling < SHORTEST_SEGMENT ? longLanes : shuffling;
    this.polls = device.isSoftware ? 0 : device.data.constants.polls;
  }

  /**
   * log10 of the one pair of a batch of a profile model's distinct rows.
   *
   * @param {Batch} batch
   * @returns {Promise<number>} NaN where its rows do not fit this arithmetic
   */
  async score(batch) {
    const pair = this.packed(batch);
    const buffers = this.#buffers(pair);
    try {
      const pipelines = await this.#pipelines(batch);
      let words = await this.#run(pair, buffers, pipelines, this.polls, true);
      if (flagsOf(words, this.device) & this.device.data.constants.unfinished) {
        this.polls = 0; // workgroups do not run side by side: strips take turns
        words = await this.#run(pair, buffers, pipelines, 0, false);
      }
      return flagsOf(words, this.device) === 0 ? log10Of(words, this.device) : NaN;
    } finally {
      for (const buffer of Object.values(buffers)) buffer.destroy();
    }
  }

  get sizes() {
    return this.device.data.longSizes[this.segment];
  }

  /** How the pair of a batch is cut. @param {Batch} batch */
  packed(batch) {
    const { data } = this.device;
    const { alignment, leastCut, longLanes, longRows } = data.constants;
    const { block, blockWords, lead, lag } = this.sizes;
    const plan = new Plan(alignment);
    const work = new Work(data.work);
    planBatch(plan, work, batch, data);
    const letters = batch.haplotypes.length;
    const bases = batch.readOffset[1];
    const strips = Math.ceil(bases / (longLanes * longRows));
    const halves = letters >= leastCut ? 2 : 1;
    const left = Math.floor(letters / halves) + 1;
    const columns = [left, letters + 1 - left];
    const border = columns.map((own) => (own > 0 ? Math.floor((own + 2 * block - 2) / block) * blockWords : 0));
    const first = [BORDERS_AT, BORDERS_AT + border[0] * (strips - 1)];
    const items = Array.from({ length: halves * strips }, (_, item) => {
      const [strip, half] = [Math.floor(item / halves), item % halves];
      return { read: 0, haplotype: 0, half, strip, border: first[half] + strip * border[half] };
    });
    const named = items.map((item) => /** @type {Record<string, number>} */ (item));
    const words = Uint32Array.from(named.flatMap((item) => data.stripItem.map((name) => item[name])));
    work.put({ items: plan.add(words) / WORD, end_item: items.length, kept: 0 });
    const steps = Math.ceil((lead + Math.max(...columns) + lag) / block) * block;
    const ofBorders = BORDERS_AT + (border[0] + border[1]) * (strips - 1);
    return {
      arrays: plan.written(),
      work,
      items: items.length,
      words: ofBorders,
      strips,
      steps,
      cells: letters * bases,
    };
  }

  /** @param {ReturnType<LongPairs["packed"]>} pair */
  #buffers({ arrays, items, words }) {
    const { device, data } = this.device;
    const { longLanes } = data.constants;
    const make = (/** @type {number} */ size, usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST) =>
      device.createBuffer({ size: Math.max(256, WORD * Math.ceil(size / WORD)), usage });
    const out = WORD * data.stripResult.length * items;
    const made = {
      in: make(arrays.length),
      out: make(out, GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC),
      border: make(WORD * words),
      strips: make(ENTRY_BYTES * longLanes * this.sizes.entries * items),
      scratch: make(0),
      staging: make(out, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST),
    };
    device.queue.writeBuffer(made.in, 0, arrays);
    return made;
  }

  /** @param {Batch} batch */
  #pipelines(batch) {
    const { data, subgroup } = this.device;
    const { longLanes: lanes, longRows: rows } = data.constants;
    const own = { lanes, rows, part: data.parts.gpu, segment: this.segment };
    const extension = extensionOf(batch, ERROR);
    const shuffles = this.segment <= subgroup;
    /** @type {"kinds" | "qualities"} */
    const from = batch.rows.length > 0 ? "kinds" : "qualities";
    return Promise.all([
      this.device.pipeline({ kernel: "forward_long_rows", ...own, shuffles: false, from, extension: null }),
      this.device.pipeline({ kernel: "forward_long", ...own, shuffles, from: "folded", extension }),
      this.device.pipeline({ kernel: "forward_join", ...own, shuffles: false, from: "folded", extension: null }),
    ]);
  }

  /**
   * @param {ReturnType<LongPairs["packed"]>} pair
   * @param {Record<string, GPUBuffer>} buffers
   * @param {GPUComputePipeline[]} pipelines
   * @param {number} polls how often a strip looks for what is not there yet; 0 where strips take turns
   * @param {boolean} isFirst whether rows are to be made
   * @returns {Promise<Uint32Array>} what is returned for each strip
   */
  async #run(pair, buffers, [rows, strips, join], polls, isFirst) {
    const { device, data } = this.device;
    const { workStride } = data.constants;
    const dispatches = [
      ...(isFirst ? [{ pipeline: rows, work: pair.work }] : []),
      ...this.#stepsOf(pair, polls).map((work) => ({ pipeline: strips, work })),
      { pipeline: join, work: pair.work },
    ];
    const blocks = new Uint8Array(workStride * dispatches.length);
    dispatches.forEach(({ work }, index) => blocks.set(work.bytes, index * workStride));
    const uniform = device.createBuffer({
      size: blocks.length,
      usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
    });
    device.queue.writeBuffer(uniform, 0, blocks);
    const bound = [
      buffers.in,
      this.device.tables,
      uniform,
      buffers.out,
      buffers.border,
      buffers.strips,
      buffers.scratch,
    ];
    const group = device.createBindGroup({
      layout: this.device.layouts[0],
      entries: bound.map((buffer, binding) => ({
        binding,
        resource: binding === 2 ? { buffer, size: workStride } : { buffer },
      })),
    });
    for (let first = 0; first < dispatches.length; first += this.#atOnce(pair, dispatches.length)) {
      const encoder = device.createCommandEncoder();
      if (first === 0 && isFirst) {
        encoder.clearBuffer(buffers.out);
        encoder.clearBuffer(buffers.border);
      }
      const pass = encoder.beginComputePass();
      const end = Math.min(first + this.#atOnce(pair, dispatches.length), dispatches.length);
      for (let index = first; index < end; index++) {
        pass.setPipeline(dispatches[index].pipeline);
        pass.setBindGroup(0, group, [index * workStride]);
        pass.dispatchWorkgroups(pair.items);
      }
      pass.end();
      if (end === dispatches.length) {
        encoder.copyBufferToBuffer(buffers.out, 0, buffers.staging, 0, buffers.staging.size);
      }
      device.queue.submit([encoder.finish()]);
    }
    await buffers.staging.mapAsync(GPUMapMode.READ);
    const words = new Uint32Array(buffers.staging.getMappedRange().slice(0));
    buffers.staging.unmap();
    uniform.destroy();
    return words.subarray(0, data.stripResult.length * pair.items);
  }

  /** Dispatches of a submission that takes about as long as it should. @param {{cells: number}} pair @param {number} count */
  #atOnce({ cells }, count) {
    const most = Math.floor((this.speed * this.device.data.constants.submitSeconds * count) / cells);
    return Math.max(1, Math.min(MOST_DISPATCHES, most));
  }

  /** The uniform blocks for all steps of all strips. @param {ReturnType<LongPairs["packed"]>} pair @param {number} polls */
  #stepsOf({ work, cells, steps, strips }, polls) {
    const { block, lead, lag } = this.sizes;
    const { longSteps, stepSeconds, submitSeconds } = this.device.data.constants;
    const behind = lag + (polls > 0 ? lead + block : longSteps);
    const front = steps + behind * (strips - 1);
    const submissions = Math.ceil((cells + this.speed * stepSeconds * front) / (this.speed * submitSeconds));
    const each = polls > 0 ? Math.max(longSteps, Math.ceil(front / submissions / block) * block) : longSteps;
    return Array.from({ length: Math.ceil(front / each) }, (_, index) => {
      const own = work.copy();
      own.put({ front: each * (index + 1), behind, polls });
      return own;
    });
  }
}

/** All flags of the strips. @param {Uint32Array} words @param {Device} device */
function flagsOf(words, { data }) {
  const at = data.stripResult.indexOf("unfit");
  let flags = 0;
  for (let item = at; item < words.length; item += data.stripResult.length) flags |= words[item];
  return flags;
}

/** log10 of the pair, from what its strips add to it. @param {Uint32Array} words @param {Device} device */
function log10Of(words, { data }) {
  const { coarse, fine } = data.constants;
  const numbers = new Float32Array(words.buffer, words.byteOffset, words.length);
  const signed = new Int32Array(words.buffer, words.byteOffset, words.length);
  const place = (/** @type {string} */ name) => data.stripResult.indexOf(name);
  let kept = 0;
  /** @type {{value: number, exponent: number}[]} */
  const parts = [];
  for (let item = 0; item < words.length; item += data.stripResult.length) {
    kept += signed[item + place("coarse")] * 2 ** -coarse + words[item + place("fine")] * 2 ** -fine;
    for (const name of ["beyond", "crossing"]) {
      const value = numbers[item + place(name)];
      if (value > 0) parts.push({ value, exponent: signed[item + place(`${name}_exponent`)] });
    }
  }
  if (parts.length === 0) return NaN;
  const highest = parts.reduce((most, { exponent }) => Math.max(most, exponent), -Infinity);
  const sum = parts.reduce((all, { value, exponent }) => all + value * 2 ** Math.max(exponent - highest, -900), 0);
  return Math.log10(sum) + highest * Math.log10(2) + kept;
}
