// An instance of our C++ as WebAssembly: one thread, with memory of its own.

/**
 * What the module exports (cpu/wasm/).
 *
 * @typedef {object} Exports
 * @property {WebAssembly.Memory} memory
 * @property {() => void} _initialize
 * @property {(bytes: number) => number} allocate
 * @property {(pointer: number) => void} release
 * @property {(batch: number, log10: number, precision: number) => void} forward
 * @property {(given: number) => number} made_tiles
 * @property {(given: number, log10: number, precision: number) => void} device_scores
 */

/**
 * @param {BufferSource | WebAssembly.Module} source the file pairhmm.wasm
 * @returns {Promise<Exports>}
 */
export async function instantiate(source) {
  const module = source instanceof WebAssembly.Module ? source : await WebAssembly.compile(source);
  const { exports } = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: NO_SYSTEM });
  const native = /** @type {Exports} */ (/** @type {unknown} */ (exports));
  native._initialize();
  return native;
}

/** Arrays in the module's memory, until they are released. */
export class Held {
  /** @param {Exports} native */
  constructor(native) {
    this.native = native;
    /** @type {number[]} */
    this.pointers = [];
  }

  /** @param {number} bytes */
  room(bytes) {
    const pointer = this.native.allocate(Math.max(bytes, 1));
    if (pointer === 0) throw new RangeError(`no memory for ${bytes} bytes in WebAssembly`);
    this.pointers.push(pointer);
    return pointer;
  }

  /** @param {Uint8Array | Uint16Array | Uint32Array | Float64Array} values */
  copy(values) {
    const pointer = this.room(values.byteLength);
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    new Uint8Array(this.native.memory.buffer).set(bytes, pointer);
    return pointer;
  }

  /** Copies of a batch's scores, which lie at two of the pointers. @param {number} log10 @param {number} precision @param {number} pairs */
  scores(log10, precision, pairs) {
    const { buffer } = this.native.memory;
    return {
      log10: new Float64Array(buffer, log10, pairs).slice(),
      precision: new Uint8Array(buffer, precision, pairs).slice(),
    };
  }

  release() {
    for (const pointer of this.pointers) this.native.release(pointer);
  }
}

// The C library asks for these, to print what stops a program. Nothing here prints.
const NO_SYSTEM = { fd_close: () => 8, fd_seek: () => 8, fd_write: () => 8 };
