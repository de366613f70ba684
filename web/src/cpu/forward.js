// The forward on the CPU: our C++ as WebAssembly (cpu/wasm/exports.cpp).

import { Held } from "./instance.js";

/** @typedef {import("../batch.js").Batch} Batch */
/** @typedef {import("./instance.js").Exports} Exports */

/** @typedef {{log10: Float64Array, precision: Uint8Array}} Scores */

export const LONGEST_FAST_READ = 500; // as Backend.longest_fast_read (pairhmm/backends/base.py)

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
const OF_QUALITIES = new Set(["bases", "baseQuality", "insertionQuality", "deletionQuality", "gapQuality"]);
const START_AT = 8 * Math.ceil((1 + POINTERS.length + 3) / 2); // behind the tables error, rows and kinds
const SIZE = START_AT + 24;

/** Scores batches on the thread of its caller. */
export class CpuForward {
  /** @param {Exports} native @param {Float64Array} error */
  constructor(native, error) {
    this.native = native;
    this.error = error;
  }

  /**
   * Scores of every pair of a batch: log10 P(read | haplotype), and the arithmetic of each (0 float32, 1 float64).
   *
   * @param {Batch} batch
   * @param {number} longestFastRead bases of the longest read that float32 is tried for
   * @returns {Scores}
   * @throws {RangeError} where the module's memory, at most 4 GB, does not hold the batch
   */
  forward(batch, longestFastRead = LONGEST_FAST_READ) {
    const held = new Held(this.native);
    try {
      const given = this.#given(batch, longestFastRead, held);
      const log10 = held.room(8 * batch.pairs);
      const precision = held.room(batch.pairs);
      this.native.forward(given, log10, precision);
      return held.scores(log10, precision, batch.pairs);
    } finally {
      held.release();
    }
  }

  /** @param {Batch} batch @param {number} longestFastRead @param {Held} held */
  #given(batch, longestFastRead, held) {
    const hasRows = batch.rows.length > 0;
    const pointers = POINTERS.map((name) => (hasRows && OF_QUALITIES.has(name) ? 0 : held.copy(batch[name])));
    const error = held.copy(this.error);
    const rows = hasRows ? held.copy(batch.rows) : 0;
    const kinds = batch.kinds.length > 0 ? held.copy(batch.kinds) : 0;
    const given = held.room(SIZE);
    const view = new DataView(this.native.memory.buffer, given, SIZE);
    view.setUint32(0, batch.groups, true);
    [...pointers, error, rows, kinds].forEach((pointer, index) => view.setUint32(4 * (index + 1), pointer, true));
    view.setFloat64(START_AT, batch.startMatch, true);
    view.setFloat64(START_AT + 8, batch.startDeletion, true);
    view.setUint32(START_AT + 16, longestFastRead, true);
    return given;
  }
}
