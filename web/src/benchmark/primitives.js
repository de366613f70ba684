// Map, reduce and scan of 32-bit integers (pairhmm/bench/primitives.py has the same for wgpu).

import { numbers } from "./data.js";

/** @typedef {import("../gpu/device.js").Device} Device */
/** @typedef {import("./data.js").BenchmarkData} BenchmarkData */

const WORD = 4;

/** The three on a device. */
export class Primitives {
  /** @param {Device} device @param {BenchmarkData} data */
  constructor({ device }, { primitives }) {
    this.device = device;
    this.data = primitives;
    this.layout = device.createBindGroupLayout({
      entries: primitives.kinds.map((type, binding) => ({
        binding,
        visibility: GPUShaderStage.COMPUTE,
        buffer: { type },
      })),
    });
    const layout = device.createPipelineLayout({ bindGroupLayouts: [this.layout] });
    const module = device.createShaderModule({ code: primitives.text });
    const names = Object.values(primitives.entries).flat();
    this.pipelines = new Map(
      names.map((entryPoint) => [
        entryPoint,
        device.createComputePipelineAsync({ layout, compute: { module, entryPoint } }),
      ]),
    );
  }

  /**
   * Seconds of each repetition from a host array to the host's result, after one that is not counted, and the result.
   *
   * @param {string} name
   * @param {Uint32Array<ArrayBuffer>} values
   * @param {number} repetitions
   * @returns {Promise<{seconds: number[], result: Uint32Array}>}
   */
  async seconds(name, values, repetitions) {
    const { device } = this;
    const size = name === "reduce" ? WORD : values.byteLength;
    const tiles = Math.ceil(values.length / this.data.tile);
    const { STORAGE, UNIFORM, COPY_DST, COPY_SRC, MAP_READ } = GPUBufferUsage;
    const wanted = [
      [16, UNIFORM | COPY_DST],
      [values.byteLength, STORAGE | COPY_DST],
      [values.byteLength, STORAGE | COPY_SRC],
      [WORD * tiles, STORAGE],
      [WORD, STORAGE | COPY_SRC | COPY_DST],
    ];
    const bound = wanted.map(([bytes, usage]) => device.createBuffer({ size: bytes, usage }));
    device.queue.writeBuffer(bound[0], 0, Uint32Array.of(values.length, 0, 0, 0));
    const staging = device.createBuffer({ size, usage: MAP_READ | COPY_DST });
    const entries = bound.map((buffer, binding) => ({ binding, resource: { buffer } }));
    const group = device.createBindGroup({ layout: this.layout, entries });
    const names = this.data.entries[name];
    const pipelines = await Promise.all(names.map((entry) => this.pipelines.get(entry)));
    const seconds = [];
    const result = new Uint32Array(size / WORD);
    for (let run = 0; run <= repetitions; run++) {
      const begin = performance.now();
      device.queue.writeBuffer(bound[1], 0, values);
      const encoder = device.createCommandEncoder();
      encoder.clearBuffer(bound[4]);
      const pass = encoder.beginComputePass();
      pass.setBindGroup(0, group);
      names.forEach((entry, index) => {
        pass.setPipeline(/** @type {GPUComputePipeline} */ (pipelines[index]));
        pass.dispatchWorkgroups(entry === "scan_sums" ? 1 : tiles);
      });
      pass.end();
      encoder.copyBufferToBuffer(bound[name === "reduce" ? 4 : 2], 0, staging, 0, size);
      device.queue.submit([encoder.finish()]);
      await staging.mapAsync(GPUMapMode.READ);
      result.set(new Uint32Array(staging.getMappedRange()));
      staging.unmap();
      seconds.push((performance.now() - begin) / 1000);
    }
    for (const buffer of [...bound, staging]) buffer.destroy();
    return { seconds: seconds.slice(1), result };
  }
}

/** The result on the host: 3 v + 1 of each, the sum, or the sums up to each. @param {string} name @param {Uint32Array} values */
export function expected(name, values) {
  if (name === "map") return values.map((value) => Math.imul(3, value) + 1);
  const sums = new Uint32Array(values.length);
  let sum = 0;
  values.forEach((value, index) => (sums[index] = sum = (sum + value) >>> 0));
  return name === "scan" ? sums : sums.slice(-1);
}

/** Integers of any size. @param {number} count */
export function integers(count) {
  const next = numbers(count);
  return Uint32Array.from({ length: count }, () => next(2 ** 32));
}
