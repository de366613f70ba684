// The published design, a dispatch for each anti-diagonal, and its optimisations, one added at a time
// (pairhmm/bench/published/webgpu_wavefront.py).

import { probabilitiesOf } from "./inputs.js";

/** @typedef {import("../batch.js").Batch} Batch */
/** @typedef {import("../gpu/device.js").Device} Device */
/** @typedef {import("./data.js").BenchmarkData} BenchmarkData */
/** @typedef {import("./data.js").Rung} Rung */

const WORD = 4;
const BLOCK_WORDS = 64; // of the uniform block of a diagonal
const MOST_DIAGONALS = 10_000; // of a command buffer: browsers end those that take long

/** Scores one pair by each rung of the ladder. */
export class Ladder {
  /** @param {Device} device @param {BenchmarkData} data */
  constructor({ device }, data) {
    this.device = device;
    this.data = data;
    this.layouts = [false, true].map((hasDynamicOffset) =>
      device.createBindGroupLayout({
        entries: data.wavefront.kinds.map((type, binding) => ({
          binding,
          visibility: GPUShaderStage.COMPUTE,
          buffer: { type, hasDynamicOffset: hasDynamicOffset && type === "uniform" },
        })),
      }),
    );
    this.pipelines = new Map(data.wavefront.ladder.map((rung) => [rung.name, this.#pipeline(rung)]));
  }

  /**
   * Natural logarithm's score as log10, and seconds from host arrays to it. Making buffers is not timed.
   *
   * @param {Batch} batch of one pair
   * @param {Rung} rung
   * @returns {Promise<{log10: number, seconds: number}>}
   */
  async score(batch, rung) {
    const { device } = this;
    const { kinds, width } = this.data.wavefront;
    const columns = batch.haplotypes.length;
    const rows = batch.kinds.length;
    const arrays = this.#arrays(batch);
    const { STORAGE, UNIFORM, COPY_DST, COPY_SRC, MAP_READ } = GPUBufferUsage;
    const buffers = arrays.map(({ byteLength }, index) =>
      device.createBuffer({
        size: Math.max(16, byteLength),
        usage: (kinds[index] === "uniform" ? UNIFORM : STORAGE) | COPY_DST,
      }),
    );
    buffers.push(device.createBuffer({ size: WORD * 9 * (rows + 1), usage: STORAGE }));
    buffers.push(device.createBuffer({ size: WORD * (columns + 1), usage: STORAGE | COPY_SRC }));
    const staging = device.createBuffer({ size: WORD * (columns + 1), usage: MAP_READ | COPY_DST });
    const diagonals = Array.from({ length: rows + columns + 1 }, (_, index) => index);
    const workgroups = diagonals.map((own) => {
      const cells = Math.min(rows, own) - Math.max(0, own - columns) + 1;
      return Math.ceil(cells / width);
    });
    const pipeline = await this.pipelines.get(rung.name);
    const begin = performance.now();
    arrays.forEach((values, index) => device.queue.writeBuffer(buffers[index], 0, values));
    const each = rung.waits ? 1 : MOST_DIAGONALS;
    for (let first = 0; first < diagonals.length; first += each) {
      const part = diagonals.slice(first, first + each);
      this.#submit(rung, /** @type {GPUComputePipeline} */ (pipeline), buffers, part, workgroups);
      if (rung.waits) await device.queue.onSubmittedWorkDone();
    }
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffers[buffers.length - 1], 0, staging, 0, staging.size);
    device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    const log10 = log10OfSum(new Float32Array(staging.getMappedRange()).subarray(1));
    const seconds = (performance.now() - begin) / 1000;
    for (const buffer of [...buffers, staging]) buffer.destroy();
    return { log10, seconds };
  }

  /**
   * @param {Rung} rung
   * @param {GPUComputePipeline} pipeline
   * @param {GPUBuffer[]} buffers
   * @param {number[]} diagonals
   * @param {number[]} workgroups of each diagonal
   */
  #submit(rung, pipeline, buffers, diagonals, workgroups) {
    const { stride } = this.data.wavefront;
    const shared = rung.offsets ? this.#bindGroup(rung, buffers, 0) : undefined;
    const encoder = this.device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    for (const diagonal of diagonals) {
      if (shared) pass.setBindGroup(0, shared, [diagonal * stride]);
      else pass.setBindGroup(0, this.#bindGroup(rung, buffers, diagonal * stride));
      pass.dispatchWorkgroups(workgroups[diagonal]);
    }
    pass.end();
    this.device.queue.submit([encoder.finish()]);
  }

  /** @param {Rung} rung @param {GPUBuffer[]} buffers @param {number} at byte of the diagonal's uniform block */
  #bindGroup(rung, buffers, at) {
    const { kinds, fields } = this.data.wavefront;
    const entries = buffers.map((buffer, binding) => ({
      binding,
      resource: kinds[binding] === "uniform" ? { buffer, offset: at, size: WORD * fields.length } : { buffer },
    }));
    return this.device.createBindGroup({ layout: this.layouts[Number(rung.offsets)], entries });
  }

  /** @param {Rung} rung */
  #pipeline({ offsets, cached }) {
    const layout = this.device.createPipelineLayout({ bindGroupLayouts: [this.layouts[Number(offsets)]] });
    const module = this.device.createShaderModule({ code: this.data.wavefront.texts[Number(cached)] });
    return this.device.createComputePipelineAsync({ layout, compute: { module, entryPoint: "wavefront" } });
  }

  /** Letters, probabilities, diagonals and tables, as the kernel's bindings have them. @param {Batch} batch */
  #arrays(batch) {
    const { model, wavefront } = this.data;
    const { fields, logZero } = wavefront;
    const log = (/** @type {number} */ value) => (value > 0 ? Math.log(value) : logZero);
    const columns = batch.haplotypes.length;
    const probabilities = new Float32Array(4 * batch.kinds.length);
    batch.kinds.forEach((kind, row) => probabilities.set(probabilitiesOf(kind), 4 * row));
    const blocks = new Uint32Array(BLOCK_WORDS * (batch.kinds.length + columns + 1));
    const singles = new Float32Array(blocks.buffer);
    const starts = {
      start_match: log(batch.startMatch),
      start_deletion: log(batch.startDeletion / columns),
      deletion: log(1 / columns),
    };
    const place = (/** @type {string} */ name) => fields.indexOf(name);
    for (let index = 0; index * BLOCK_WORDS < blocks.length; index++) {
      const at = index * BLOCK_WORDS;
      blocks[at + place("index")] = index;
      blocks[at + place("rows")] = batch.kinds.length;
      blocks[at + place("columns")] = columns;
      for (const [name, value] of Object.entries(starts)) singles[at + place(name)] = value;
    }
    const tables = Float32Array.from([...model.match.flat(), ...model.insertion, ...model.transitions.map(log)]);
    return [Uint32Array.from(batch.haplotypes), probabilities, blocks, tables];
  }
}

/** log10 of the sum of numbers, given their natural logarithms. @param {Float32Array} logarithms */
function log10OfSum(logarithms) {
  const highest = logarithms.reduce((most, own) => Math.max(most, own), -Infinity);
  const sum = logarithms.reduce((all, own) => all + Math.exp(own - highest), 0);
  return (highest + Math.log(sum)) / Math.log(10);
}
