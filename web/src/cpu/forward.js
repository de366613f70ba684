// The forward on the CPU: our C++ as WebAssembly (cpu/wasm/exports.cpp).

import { ERROR } from "../models/parameters.js";

/** @import { Batch } from "../batch.js" */
/** @import { Native } from "./native.js" */

/** @typedef {{log10: Float64Array, precision: Uint8Array}} Scores */

const OFFSETS = /** @type {const} */ (["groupRead", "groupHaplotype", "readOffset", "haplotypeOffset"]);
const QUALITIES = /** @type {const} */ (["bases", "baseQuality", "insertionQuality", "deletionQuality", "gapQuality"]);

/**
 * Scores of every pair of a batch, on the thread of the caller: log10 P(read | haplotype), and the arithmetic of each (0
 * float32, 1 float64).
 *
 * @param {Native} native
 * @param {Batch} batch
 * @param {Scores} [known] only the pairs whose score is NaN are scored, in float64
 * @returns {Scores}
 * @throws {RangeError} where the module's memory, at most 4 GB, does not hold the batch
 */
export function forward(native, batch, known) {
  const { pairs, rows, kinds, flags, startMatch, startDeletion } = batch;
  return native.with((arrays) => {
    // Fields of GivenBatch.
    const given = arrays.struct([
      batch.groups,
      ...OFFSETS.map((name) => arrays.pass(batch[name])),
      arrays.pass(batch.haplotypes),
      ...QUALITIES.map((name) => (rows.length ? 0 : arrays.pass(batch[name]))),
      arrays.pass(ERROR),
      rows.length ? arrays.pass(rows) : 0,
      kinds.length ? arrays.pass(kinds) : 0,
      flags.length ? arrays.pass(flags) : 0,
    ]);
    const log10 = known ? arrays.pass(known.log10) : arrays.room(8 * pairs);
    const precision = known ? arrays.pass(known.precision) : arrays.room(pairs);
    native.call[known ? "rescue" : "forward"](given, startMatch, startDeletion, log10, precision);
    return arrays.scores(log10, precision, pairs);
  });
}
