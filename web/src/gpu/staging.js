// Tiles, trees and scores, which our C++ makes (cpu/wasm/staging.cpp).

import { Held } from "../cpu/instance.js";

/** @typedef {import("../batch.js").Batch} Batch */
/** @typedef {import("../cpu/forward.js").Scores} Scores */
/** @typedef {import("../cpu/instance.js").Exports} Exports */
/** @typedef {import("./variants.js").GpuData} GpuData */
/** @typedef {import("./variants.js").ShapeTable} ShapeTable */

/**
 * The tiles of one shape (pairhmm/backends/tiles.py).
 *
 * @typedef {object} Tier
 * @property {number} lanes
 * @property {number} rows
 * @property {boolean} tall
 * @property {number} firstItem
 * @property {number} items
 * @property {number} haplotypesEach
 * @property {number} last
 * @property {number} pairs
 * @property {number} cells
 * @property {number} longest
 */

/**
 * A batch's tiles and trees: their bytes, and where each array begins within them.
 *
 * @typedef {object} MadeTiles
 * @property {Uint8Array<ArrayBuffer>} bytes a multiple of four of them
 * @property {number} order
 * @property {number} items
 * @property {number[]} trees group, trees, places, events, joins, streams
 * @property {{openBranches: number, leftLeaves: number, rightLeaves: number, joins: number}} sizes
 * @property {Tier[]} tiers those with most items first
 */

const TREE_ARRAYS = 6;
const TIER_NUMBERS = 8;
const GIVEN_SUMS = 48; // bytes

/**
 * The tiles of a batch, and the trees of its haplotypes where the table's shapes take trees.
 *
 * @param {Exports} native
 * @param {Batch} batch
 * @param {Uint8Array} skipRead 1 for each read that gets no tile
 * @param {ShapeTable} table
 * @param {GpuData} data
 * @param {boolean} inTrees
 * @returns {MadeTiles}
 */
export function madeTiles(native, batch, skipRead, table, data, inTrees) {
  const { width, haplotypesOfTrees, columnsOfSum, lead, tail } = data.constants;
  const ofLength = Uint8Array.from(table.ofLength.flatMap(([shape, count]) => Array(count).fill(shape)));
  const held = new Held(native);
  try {
    const { known } = table;
    const words = Uint32Array.of(
      batch.groups,
      held.copy(batch.groupRead),
      held.copy(batch.groupHaplotype),
      held.copy(batch.readOffset),
      held.copy(batch.haplotypeOffset),
      held.copy(batch.haplotypes),
      held.copy(skipRead),
      known.length,
      ofLength.length - 1,
      held.copy(ofLength),
      held.copy(Uint32Array.from(known, ([lanes]) => Math.floor(width / lanes))),
      held.copy(Uint32Array.from(known, ([lanes, rows]) => lanes * rows)),
      held.copy(Uint8Array.from(table.family)),
      held.copy(Uint32Array.from(known, ([, , tall]) => (inTrees && !tall ? haplotypesOfTrees : 0))),
      table.tierCells,
      ...table.itemSizes,
      inTrees ? haplotypesOfTrees : 0,
      columnsOfSum,
      lead,
      tail,
    );
    return read(native, native.made_tiles(held.copy(words)), table);
  } finally {
    held.release();
  }
}

/** @param {Exports} native @param {number} pointer of MadeTiles @param {ShapeTable} table @returns {MadeTiles} */
function read(native, pointer, table) {
  const { buffer } = native.memory;
  const [at, size, order, items, ...others] = new Uint32Array(buffer, pointer, 4 + TREE_ARRAYS + 6);
  const [openBranches, leftLeaves, rightLeaves, joins, count, numbersAt] = others.slice(TREE_ARRAYS);
  const bytes = new Uint8Array(4 * Math.ceil(size / 4));
  bytes.set(new Uint8Array(buffer, at, size));
  const numbers = new Float64Array(buffer, numbersAt, count * TIER_NUMBERS);
  const tiers = Array.from({ length: count }, (_, index) => {
    const own = numbers.subarray(index * TIER_NUMBERS, (index + 1) * TIER_NUMBERS);
    const [lanes, rows, tall] = table.known[own[0]];
    const [, firstItem, itemsOf, haplotypesEach, last, pairs, cells, longest] = own;
    return { lanes, rows, tall: tall === 1, firstItem, items: itemsOf, haplotypesEach, last, pairs, cells, longest };
  });
  tiers.sort((a, b) => b.items - a.items);
  const sizes = { openBranches, leftLeaves, rightLeaves, joins };
  return { bytes, order, items, trees: others.slice(0, TREE_ARRAYS), sizes, tiers };
}

/**
 * Scores from the words that kernels leave: sums with exponents, and what each read's are relative to.
 *
 * @param {Exports} native
 * @param {Batch} batch
 * @param {Uint32Array} out
 * @param {GpuData} data
 * @returns {Scores} NaN where there is no sum
 */
export function deviceScores(native, batch, out, data) {
  const { coarse, fine, startExponent } = data.constants;
  const held = new Held(native);
  try {
    const sums = held.copy(out);
    const pointers = [held.copy(batch.groupRead), held.copy(batch.groupHaplotype), sums, sums + 8 * batch.pairs];
    const log10 = held.room(8 * batch.pairs);
    const precision = held.room(batch.pairs);
    const given = held.room(GIVEN_SUMS);
    const view = new DataView(native.memory.buffer, given, GIVEN_SUMS);
    [batch.groups, ...pointers, fine - coarse].forEach((word, index) => view.setUint32(4 * index, word, true));
    view.setFloat64(24, 2 ** -fine, true);
    view.setInt32(32, -startExponent, true);
    for (let code = 0; code < 3; code++) view.setUint8(36 + code, 0); // float32, scaled or not; the rescue says float64
    native.device_scores(given, log10, precision);
    return held.scores(log10, precision, batch.pairs);
  } finally {
    held.release();
  }
}
