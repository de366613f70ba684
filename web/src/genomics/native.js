// Calls of our C++ for reads, candidates and genotypes (cpu/wasm/alignments.cpp, candidates.cpp, genotypes.cpp).

import { Held, instantiate } from "../cpu/instance.js";

/** @typedef {import("../cpu/instance.js").Exports} Exports */
/** @typedef {Uint8Array | Uint16Array | Int16Array | Int32Array | Uint32Array | Float64Array} Values */

/**
 * An instance of our C++, in which arrays are laid for single calls. What it makes lives as long as it does: a run has an
 * instance of its own.
 */
export class Native {
  /** @param {Exports} exports */
  constructor(exports) {
    this.exports = exports;
    /** @type {Record<string, (...given: number[]) => number>} */
    this.call = /** @type {any} */ (exports);
  }

  /** @param {BufferSource | WebAssembly.Module} source the file pairhmm.wasm */
  static async start(source) {
    return new Native(await instantiate(source));
  }

  get buffer() {
    return this.exports.memory.buffer;
  }

  /**
   * What `use` makes of arrays, which are released behind it.
   *
   * @template Result
   * @param {(arrays: Arrays) => Result} use
   * @returns {Result}
   */
  with(use) {
    const arrays = new Arrays(this.exports);
    try {
      return use(arrays);
    } finally {
      arrays.release();
    }
  }

  /**
   * The numbers that a function handed over (`handed_over` in cpu/wasm/arrays.hpp).
   *
   * @param {number} pointer
   */
  taken(pointer) {
    const count = new Uint32Array(this.buffer, pointer, 1)[0];
    const numbers = new Int32Array(this.buffer, pointer + 4, count).slice();
    this.exports.release(pointer);
    return numbers;
  }
}

/** Arrays in the module's memory for one call. */
export class Arrays extends Held {
  /** @param {Values} values */
  pass(values) {
    return this.copy(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  }

  /** A structure whose fields have 32 bits: pointers, and whole numbers. @param {number[]} fields */
  struct(fields) {
    return this.pass(Uint32Array.from(fields, (value) => value >>> 0));
  }

  /**
   * A copy of numbers in the module's memory.
   *
   * @template {Values} Kind
   * @param {{new (buffer: ArrayBuffer, at: number, count: number): Kind}} kind
   * @param {number} pointer
   * @param {number} count
   * @returns {Kind}
   */
  read(kind, pointer, count) {
    return /** @type {Kind} */ (new kind(this.native.memory.buffer, pointer, count).slice());
  }
}
