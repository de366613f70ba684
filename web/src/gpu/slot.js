// The buffers of one call to a device. They grow as needed, and stay for the next call.

/** @import { Device } from "./device.js" */

const SMALLEST = 256; // bytes; sizes are multiples of it
const GROWTH = 1.25;

/** Usage of each buffer (pairhmm/backends/webgpu/slot.py). */
const USAGES = () => {
  const { STORAGE, UNIFORM, INDIRECT, MAP_READ, COPY_SRC, COPY_DST } = GPUBufferUsage;
  return {
    in: STORAGE | COPY_DST,
    work: UNIFORM | COPY_DST,
    out: STORAGE | COPY_SRC | COPY_DST,
    staging: MAP_READ | COPY_DST,
    listed: STORAGE | INDIRECT | COPY_DST,
    list: STORAGE,
    scratch: STORAGE,
  };
};

/** @typedef {keyof ReturnType<typeof USAGES>} BufferName */

export class Slot {
  /** @type {Map<string, GPUBuffer>} */
  #buffers = new Map();

  /** @param {Device} device */
  constructor(device) {
    this.device = device;
  }

  /** @param {BufferName} name @returns {GPUBuffer} */
  get(name) {
    return /** @type {GPUBuffer} */ (this.#buffers.get(name));
  }

  /**
   * A buffer with at least so many bytes. One that grows loses its contents.
   *
   * @param {BufferName} name
   * @param {number} size
   * @returns {GPUBuffer}
   */
  makeRoom(name, size) {
    const known = this.#buffers.get(name);
    if (known && known.size >= size) return known;
    known?.destroy();
    const room = Math.min(this.device.largestBuffer, Math.ceil(known ? size * GROWTH : size));
    const rounded = Math.max(1, Math.ceil(Math.max(room, size) / SMALLEST)) * SMALLEST;
    const made = this.device.device.createBuffer({ size: rounded, usage: USAGES()[name] });
    this.#buffers.set(name, made);
    return made;
  }

  release() {
    for (const buffer of this.#buffers.values()) buffer.destroy();
    this.#buffers.clear();
  }
}
