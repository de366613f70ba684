// A WebGPU device with the limits and features that are there, and the pipelines of our kernels.

import { phredTables } from "./tables.js";
import { nameOf, source } from "./variants.js";

/** @import { GpuData, Variant } from "./variants.js" */

const WANTED_LIMITS = /** @type {const} */ ([
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
]);
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|basic render|software/i;

/** No GPU can be used; the message says why. */
export class Unavailable extends Error {
  name = "Unavailable";
}

/** The GPU has no memory for a call; a smaller one may fit. */
export class OutOfDeviceMemory extends Error {
  name = "OutOfDeviceMemory";
}

/** A device, what it is called, and its pipelines. */
export class Device {
  /** @type {Map<string, Promise<GPUComputePipeline>>} */
  #pipelines = new Map();

  /**
   * @param {GPU} gpu
   * @param {GPUDevice} device
   * @param {GPUAdapter} adapter
   * @param {GpuData} data
   */
  constructor(gpu, device, adapter, data) {
    this.gpu = gpu; // Dawn for Node ends with it
    this.device = device;
    this.adapter = adapter;
    this.data = data;
    this.isSoftware = isSoftware(adapter);
    /** Lanes of a subgroup; 0 if lanes may not shuffle, or do not lie in the workgroup's order. */
    this.subgroup = 0;
    const others = /** @type {const} */ (["storage", "storage", "storage"]);
    this.layouts = [this.#layout(...others), this.#layout("storage", "read-only-storage")];
    this.tables = this.filled(phredTables(data), GPUBufferUsage.STORAGE);
  }

  /**
   * @param {GpuData} data
   * @param {object} options
   * @param {GPU} [options.gpu] the browser's own where it is missing
   * @param {boolean} [options.shuffles]
   * @param {boolean} [options.allowsSoftware] whether a program may stand for a GPU
   * @param {(message: string) => void} [options.log]
   * @returns {Promise<Device>}
   * @throws {Unavailable}
   */
  static async start(
    data,
    { gpu = globalThis.navigator?.gpu, shuffles = true, allowsSoftware = true, log = () => {} } = {},
  ) {
    if (!gpu) throw new Unavailable("this browser has no WebGPU, or the page is not from https:, localhost or file:");
    const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
    if (!adapter)
      throw new Unavailable("the browser gives no GPU to pages: it has no driver for one, or it is switched off");
    if (isSoftware(adapter) && !allowsSoftware)
      throw new Unavailable("a program stands for the GPU, and WebAssembly is faster");
    const started = new Device(gpu, await requested(adapter, log), adapter, data);
    if (shuffles && started.device.features.has("subgroups")) started.subgroup = await started.#measuredSubgroup();
    return started;
  }

  /** Such as "nvidia h200". */
  get name() {
    const { vendor, architecture, device, description } = this.adapter.info;
    const names = [vendor, device || architecture].filter((own) => own).join(" ");
    return names || description || "GPU";
  }

  /** Bytes of the largest buffer that kernels take. */
  get largestBuffer() {
    const { maxStorageBufferBindingSize, maxBufferSize } = this.device.limits;
    return Math.min(maxStorageBufferBindingSize, maxBufferSize);
  }

  /** @param {Variant} variant @returns {Promise<GPUComputePipeline>} */
  pipeline(variant) {
    const name = `${nameOf(variant)} ${variant.extension}`;
    const known = this.#pipelines.get(name);
    if (known) return known;
    const layout = this.layouts[Number(variant.kernel === "forward_scaled")];
    const made = this.device.createComputePipelineAsync({
      layout: this.device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: {
        module: this.device.createShaderModule({ code: source(this.data, variant) }),
        entryPoint: variant.kernel,
      },
    });
    this.#pipelines.set(name, made);
    return made;
  }

  /** A buffer with these words. @param {Uint32Array<ArrayBuffer>} words @param {number} usage */
  filled(words, usage) {
    const buffer = this.device.createBuffer({ size: words.byteLength, usage: usage | GPUBufferUsage.COPY_DST });
    this.device.queue.writeBuffer(buffer, 0, words);
    return buffer;
  }

  /** The first bytes of a buffer. @param {GPUBuffer} buffer @param {number} size */
  async read(buffer, size) {
    const staging = this.device.createBuffer({ size, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
    const encoder = this.device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, staging, 0, size);
    this.device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    const bytes = staging.getMappedRange().slice(0);
    staging.destroy();
    return bytes;
  }

  /**
   * What `record` does, with an error where the device has no memory for it, or refuses it.
   *
   * @param {() => void} record calls that return at once
   * @returns {Promise<void>}
   */
  async checked(record) {
    this.device.pushErrorScope("validation");
    this.device.pushErrorScope("internal");
    this.device.pushErrorScope("out-of-memory");
    /** @type {unknown} */
    let thrown;
    try {
      record();
    } catch (error) {
      thrown = error;
    }
    const scopes = Array.from({ length: 3 }, () => this.device.popErrorScope());
    const [memory, ...others] = await Promise.all(scopes);
    if (memory) throw new OutOfDeviceMemory(memory.message);
    const refused = others.find((error) => error);
    if (thrown ?? refused) throw thrown ?? new Error(`the GPU refused a call: ${refused?.message}`);
  }

  /** The bindings of kernels: the buffers that all have, and others. @param {GPUBufferBindingType[]} others */
  #layout(...others) {
    /** @type {GPUBufferBindingType[]} */
    const types = ["read-only-storage", "read-only-storage", "uniform", "storage", ...others];
    return this.device.createBindGroupLayout({
      entries: types.map((type, binding) => ({
        binding,
        visibility: GPUShaderStage.COMPUTE,
        buffer: { type, hasDynamicOffset: type === "uniform" },
      })),
    });
  }

  async #measuredSubgroup() {
    const code = this.data.enableSubgroups + this.data.subgroups;
    const module = this.device.createShaderModule({ code });
    const compute = { module, entryPoint: "measure" };
    const pipeline = await this.device.createComputePipelineAsync({ layout: "auto", compute });
    const least = this.filled(new Uint32Array(64).fill(0xffffffff), GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC);
    const encoder = this.device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    const entries = [{ binding: 0, resource: { buffer: least } }];
    pass.setBindGroup(0, this.device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
    pass.dispatchWorkgroups(1);
    pass.end();
    this.device.queue.submit([encoder.finish()]);
    return new Uint32Array(await this.read(least, 4))[0];
  }
}

/** Whether an adapter is no GPU, but a program that stands for one. @param {GPUAdapter} adapter */
function isSoftware({ info }) {
  return info.isFallbackAdapter === true || SOFTWARE.test(`${info.vendor} ${info.device} ${info.description}`);
}

/** @param {GPUAdapter} adapter @param {(message: string) => void} log @returns {Promise<GPUDevice>} */
async function requested(adapter, log) {
  const requiredFeatures = /** @type {const} */ (["subgroups"]).filter((name) => adapter.features.has(name));
  const requiredLimits = Object.fromEntries(WANTED_LIMITS.map((name) => [name, adapter.limits[name]]));
  try {
    return await adapter.requestDevice({ requiredFeatures, requiredLimits });
  } catch (error) {
    log(`the GPU refuses its own limits, so the smallest are used (${/** @type {Error} */ (error).message})`);
  }
  try {
    return await adapter.requestDevice();
  } catch (error) {
    throw new Unavailable(`the browser gives no GPU device: ${/** @type {Error} */ (error).message}`);
  }
}
