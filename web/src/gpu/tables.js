// The tables that kernels make rows from (pairhmm/backends/webgpu/rows.py).

import { ERROR } from "../models/parameters.js";

/** @import { GpuData } from "./variants.js" */

const ROW_SIZE = 12; // emissions of A C G T N, then mm im dm mi ii md dd (pairhmm/models/batch.py)

/** Words that are written one after the other. */
class Words {
  #at = 0;

  /** @param {number} count */
  constructor(count) {
    this.u32 = new Uint32Array(count);
    this.f32 = new Float32Array(this.u32.buffer);
  }

  /** @param {number} value */
  whole(value) {
    this.u32[this.#at++] = value;
  }

  /** @param {number} value */
  single(value) {
    this.f32[this.#at++] = value;
  }

  /** The float32 next to a number, and the rest (shaders/forward/pairs.wgsl). @param {number} value */
  pair(value) {
    this.single(value);
    this.single(value - Math.fround(value));
  }

  /** @param {number} value */
  pairOfInverse(value) {
    this.pair(value > 0 ? 1 / value : 0);
  }

  /** log10 in units of 2^-coarse, and the rest in units of 2^-fine. @param {number} value @param {GpuData} data */
  fixedLog10(value, { constants: { coarse, fine } }) {
    const fixed = Math.round(Math.log10(value > 0 ? value : 1) * 2 ** fine);
    const high = Math.floor(fixed / 2 ** (fine - coarse));
    this.whole(high);
    this.whole(fixed - high * 2 ** (fine - coarse));
  }
}

/**
 * The Phred tables of rows_qualities.wgsl, four words an entry.
 *
 * @param {GpuData} data
 * @returns {Uint32Array<ArrayBuffer>}
 */
export function phredTables(data) {
  const count = data.constants.qualities;
  const error = ERROR.subarray(0, count);
  const words = new Words(4 * (count * count + 5 * count));
  for (const insertion of error) {
    for (const deletion of error) {
      const unopened = 1 - Math.min(1, insertion + deletion);
      words.fixedLog10(unopened, data);
      words.pairOfInverse(unopened);
    }
  }
  for (const isN of [false, true]) {
    for (const wrong of error) {
      const best = isN ? 1 - wrong : Math.max(1 - wrong, wrong / 3);
      words.fixedLog10(best, data);
      words.pairOfInverse(best);
    }
  }
  for (const own of error) {
    words.pair(own);
    words.pair(1 / own);
  }
  for (const isN of [false, true]) {
    for (const own of error) {
      const [right, wrong] = [1 - own, own / 3];
      words.single(isN ? 1 : Math.min(right, wrong) / Math.max(right, wrong));
      words.whole(Number(wrong > right));
      words.whole(0);
      words.whole(0);
    }
  }
  return words.u32;
}

/**
 * Distinct rows of a profile model in the columns of rows_kinds.wgsl.
 *
 * @param {Float64Array} rows
 * @param {GpuData} data
 * @returns {Uint32Array<ArrayBuffer>}
 */
export function kindTable(rows, data) {
  const { leastKept, neverOpened, neverEnded, unfolded } = data.constants;
  const { columns: size, at } = data.kinds;
  const table = new Uint32Array((rows.length / ROW_SIZE) * size);
  for (let row = 0; row * ROW_SIZE < rows.length; row++) {
    const [a, c, g, t, n, mm, im, dm, mi, ii, md, dd] = rows.subarray(row * ROW_SIZE, (row + 1) * ROW_SIZE);
    const best = Math.max(a, c, g, t, n);
    const multiplied = mm * best;
    const words = new Words(size);
    for (const emission of [a, c, g, t, n]) words.single(emission / best);
    for (const value of [mi, md, dd, dm / mm, im / mm]) words.single(value);
    words.pair(mi / multiplied);
    words.pair(mi > 0 ? ii / mi : ii > 0 ? neverOpened : 0);
    words.fixedLog10(multiplied, data);
    words.whole(0);
    words.pair(ii / best);
    words.pair(1 / mm);
    words.pair(im > 0 ? 1 / im : neverEnded);
    const isFinite = words.f32.every(
      (value, column) => Number.isFinite(value) || (column >= at.KEPT && column <= at.UNFIT),
    );
    if (isFinite && multiplied >= leastKept) table.set(words.u32, row * size);
    else table[row * size + at.UNFIT] = unfolded;
  }
  return table;
}
