// The engine's GPU in a page: what tests/web/test_gpu_browser.py asks a browser for.

import { Engine } from "../src/engine.js";
import { Gpu, OutOfDeviceMemory } from "../src/gpu/gpu.js";
import { packBatch } from "../src/batch.js";

/** @import { GpuData } from "../src/gpu/variants.js" */

/** @typedef {{bases: string, haplotype: string, quality: number[], insertion: number[], deletion: number[], gap: number[]}} Pair */

const text = (/** @type {string} */ id) => document.getElementById(id)?.textContent ?? "";
const wasm = () => Uint8Array.from(atob(text("wasm")), (letter) => letter.charCodeAt(0));
const data = () => /** @type {GpuData} */ (JSON.parse(text("kernels")));

/** @param {Pair[]} pairs */
const batchOf = (pairs) =>
  packBatch(
    pairs.map(({ bases, haplotype, quality, insertion, deletion, gap }) => ({
      haplotypes: [haplotype],
      reads: [{ bases, baseQuality: quality, insertionQuality: insertion, deletionQuality: deletion, gapQuality: gap }],
    })),
  );

Object.assign(window, {
  /** log10 of pairs by the GPU alone. @param {Pair[]} pairs @param {boolean} shuffles */
  async ofGpu(pairs, shuffles) {
    const gpu = await Gpu.start({ wasm: wasm(), data: data(), shuffles });
    const { log10 } = await gpu.forward(batchOf(pairs));
    const { description } = gpu;
    gpu.close();
    return { log10: Array.from(log10), description };
  },

  /** log10 of pairs by a GPU whose memory does not hold the first call, and what it says. @param {Pair[]} pairs */
  async ofSmallGpu(pairs) {
    /** @type {string[]} */
    const said = [];
    const log = (/** @type {string} */ message) => void said.push(message);
    const gpu = await Gpu.start({ wasm: wasm(), data: data(), log });
    const { device } = gpu.device;
    const create = device.createBuffer.bind(device);
    let isFirst = true;
    // A buffer that no device has room for, where WebGPU would report an error.
    device.createBuffer = (descriptor) => {
      if (isFirst && descriptor.usage & GPUBufferUsage.INDIRECT) {
        isFirst = false;
        throw new OutOfDeviceMemory("a test");
      }
      return create(descriptor);
    };
    const { log10 } = await gpu.forward(batchOf(pairs));
    gpu.close();
    return { log10: Array.from(log10), said };
  },

  /** log10 of pairs by an engine, and what it says. @param {Pair[]} pairs @param {"auto" | "off" | "only"} gpu @param {boolean} isLost */
  async ofEngine(pairs, gpu, isLost) {
    /** @type {string[]} */
    const said = [];
    const log = (/** @type {string} */ message) => void said.push(message);
    const engine = await Engine.start({ wasm: wasm(), workers: 1, gpu, kernels: data(), log });
    await engine.chosen;
    const { description } = engine;
    if (isLost) engine.gpu?.gpu.device.device.destroy();
    const { log10 } = await engine.forward(batchOf(pairs));
    engine.close();
    return { log10: Array.from(log10), description, said, after: engine.description };
  },
});
