// The forward on the CPU: our C++ as WebAssembly (cpu/wasm/exports.cpp). An instance has one thread.

/** @typedef {import("./batch.js").Batch} Batch */

/** @typedef {{log10: Float64Array, precision: Uint8Array}} Scores */

const LONGEST_FAST_READ = 500; // as Backend.longest_fast_read (pairhmm/backends/base.py)

// Offsets of the fields of GivenBatch (cpu/wasm/exports.cpp): pointers have 32 bits.
const POINTERS = /** @type {const} */ ([
  "groupRead",
  "groupHaplotype",
  "readOffset",
  "haplotypeOffset",
  "haplotypes",
  "bases",
  "baseQuality",
  "insertionQuality",
  "deletionQuality",
  "gapQuality",
]);
const ERROR_AT = 4 * (1 + POINTERS.length);
const START_AT = 8 * Math.ceil((ERROR_AT + 12) / 8);
const SIZE = START_AT + 24;

/**
 * @typedef {object} Exports
 * @property {WebAssembly.Memory} memory
 * @property {() => void} _initialize
 * @property {(bytes: number) => number} allocate
 * @property {(pointer: number) => void} release
 * @property {(batch: number, log10: number, precision: number) => void} forward
 * @property {(batch: number) => number} computed_cells
 */

/** Our C++ on one thread, with memory of its own. */
export class Cpu {
  /** @param {Exports} native @param {Float64Array} error */
  constructor(native, error) {
    this.native = native;
    this.error = error;
  }

  /**
   * @param {BufferSource | WebAssembly.Module} source the module pairhmm.wasm
   * @param {Float64Array} error the error probability of each Phred quality, 0 to 255
   * @returns {Promise<Cpu>}
   */
  static async load(source, error) {
    const module = source instanceof WebAssembly.Module ? source : await WebAssembly.compile(source);
    const { exports } = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: NO_SYSTEM });
    const native = /** @type {Exports} */ (/** @type {unknown} */ (exports));
    native._initialize();
    return new Cpu(native, error);
  }

  /**
   * Scores of every pair of a batch: log10 P(read | haplotype), and the arithmetic of each (0 float32, 1 float64).
   *
   * @param {Batch} batch
   * @returns {Scores}
   * @throws {RangeError} where the module's memory, at most 4 GB, does not hold the batch
   */
  forward(batch) {
    const held = new Held(this.native);
    try {
      const given = this.#given(batch, held);
      const log10 = held.room(8 * batch.pairs);
      const precision = held.room(batch.pairs);
      this.native.forward(given, log10, precision);
      const { buffer } = this.native.memory;
      return {
        log10: new Float64Array(buffer, log10, batch.pairs).slice(),
        precision: new Uint8Array(buffer, precision, batch.pairs).slice(),
      };
    } finally {
      held.release();
    }
  }

  /**
   * Cells that `forward` computes: fewer than those of whole matrices where haplotypes share columns.
   *
   * @param {Batch} batch
   * @returns {number}
   */
  computedCells(batch) {
    const held = new Held(this.native);
    try {
      return this.native.computed_cells(this.#given(batch, held));
    } finally {
      held.release();
    }
  }

  /** @param {Batch} batch @param {Held} held */
  #given(batch, held) {
    const pointers = POINTERS.map((name) => held.copy(batch[name]));
    const error = held.copy(this.error);
    const given = held.room(SIZE);
    const view = new DataView(this.native.memory.buffer, given, SIZE);
    view.setUint32(0, batch.groups, true);
    pointers.forEach((pointer, index) => view.setUint32(4 * (index + 1), pointer, true));
    view.setUint32(ERROR_AT, error, true);
    view.setUint32(ERROR_AT + 4, 0, true);
    view.setUint32(ERROR_AT + 8, 0, true);
    view.setFloat64(START_AT, 0, true); // GATK's row 0: M[0,0] = 0, D[0,j] = 1/n
    view.setFloat64(START_AT + 8, 1, true);
    view.setUint32(START_AT + 16, LONGEST_FAST_READ, true);
    return given;
  }
}

/** Arrays in the module's memory, until they are released. */
class Held {
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

  /** @param {Uint8Array | Uint32Array | Float64Array} values */
  copy(values) {
    const pointer = this.room(values.byteLength);
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    new Uint8Array(this.native.memory.buffer).set(bytes, pointer);
    return pointer;
  }

  release() {
    for (const pointer of this.pointers) this.native.release(pointer);
  }
}

// The C library asks for these, to print what stops a program. Nothing here prints.
const NO_SYSTEM = { fd_close: () => 8, fd_seek: () => 8, fd_write: () => 8 };
