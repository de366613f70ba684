// Tiles, trees and scores, which our C++ makes (cpu/wasm/staging.cpp).

/** @import { Batch } from "../batch.js" */
/** @import { Scores } from "../cpu/forward.js" */
/** @import { Native } from "../cpu/native.js" */
/** @import { GpuData, ShapeTable } from "./variants.js" */

/** @typedef {ReturnType<typeof read>} MadeTiles a batch's tiles and trees: their bytes, and where each array begins within them */
/** @typedef {MadeTiles["tiers"][number]} Tier the tiles of one shape (pairhmm/backends/tiles.py) */

const TREE_ARRAYS = 6;
const TIER_NUMBERS = 8;

/**
 * The tiles of a batch, and the trees of its haplotypes where the table's shapes take trees.
 *
 * @param {Native} native
 * @param {Batch} batch
 * @param {Uint8Array} skipRead 1 for each read that gets no tile
 * @param {ShapeTable} table
 * @param {GpuData} data
 * @param {boolean} inTrees
 */
export function madeTiles(native, batch, skipRead, table, data, inTrees) {
  const { width, haplotypesOfTrees, columnsOfSum, lead, tail } = data.constants;
  const ofLength = Uint8Array.from(table.ofLength.flatMap(([shape, count]) => Array(count).fill(shape)));
  const { known } = table;
  return native.with((arrays) => {
    const given = arrays.struct([
      batch.groups,
      arrays.pass(batch.groupRead),
      arrays.pass(batch.groupHaplotype),
      arrays.pass(batch.readOffset),
      arrays.pass(batch.haplotypeOffset),
      arrays.pass(batch.haplotypes),
      arrays.pass(skipRead),
      known.length,
      ofLength.length - 1,
      arrays.pass(ofLength),
      arrays.pass(Uint32Array.from(known, ([lanes]) => Math.floor(width / lanes))),
      arrays.pass(Uint32Array.from(known, ([lanes, rows]) => lanes * rows)),
      arrays.pass(Uint8Array.from(table.family)),
      arrays.pass(Uint32Array.from(known, ([, , tall]) => (inTrees && !tall ? haplotypesOfTrees : 0))),
      table.tierCells,
      ...table.itemSizes,
      inTrees ? haplotypesOfTrees : 0,
      columnsOfSum,
      lead,
      tail,
    ]);
    return read(native, native.call.made_tiles(given), table);
  });
}

/** @param {Native} native @param {number} pointer of MadeTiles @param {ShapeTable} table */
function read(native, pointer, table) {
  const { buffer } = native;
  const [at, size, order, items, ...others] = new Uint32Array(buffer, pointer, 4 + TREE_ARRAYS + 6);
  const [openBranches, leftLeaves, rightLeaves, joins, count, numbersAt] = others.slice(TREE_ARRAYS);
  // Multiples of four can be written to a device.
  const bytes = new Uint8Array(4 * Math.ceil(size / 4));
  bytes.set(new Uint8Array(buffer, at, size));
  const numbers = new Float64Array(buffer, numbersAt, count * TIER_NUMBERS);
  const tiers = Array.from({ length: count }, (_, index) => {
    const own = numbers.subarray(index * TIER_NUMBERS, (index + 1) * TIER_NUMBERS);
    const [lanes, rows, tall] = table.known[own[0]];
    const [, firstItem, itemsOf, haplotypesEach, last, pairs, cells, longest] = own;
    return { lanes, rows, tall: tall === 1, firstItem, items: itemsOf, haplotypesEach, last, pairs, cells, longest };
  });
  // Those with most items come first.
  tiers.sort((a, b) => b.items - a.items);
  const sizes = { openBranches, leftLeaves, rightLeaves, joins };
  // Of trees: group, trees, places, events, joins, streams.
  return { bytes, order, items, trees: others.slice(0, TREE_ARRAYS), sizes, tiers };
}

/**
 * Scores from the words that kernels leave: sums with exponents, and what each read's are relative to.
 *
 * @param {Native} native
 * @param {Batch} batch
 * @param {Uint32Array} out
 * @param {GpuData} data
 * @returns {Scores} NaN where there is no sum
 */
export function deviceScores(native, batch, out, data) {
  const { coarse, fine, startExponent } = data.constants;
  return native.with((arrays) => {
    const sums = arrays.pass(out);
    const offsets = [arrays.pass(batch.groupRead), arrays.pass(batch.groupHaplotype)];
    const [log10, precision] = [arrays.room(8 * batch.pairs), arrays.room(batch.pairs)];
    const given = [batch.groups, ...offsets, sums, sums + 8 * batch.pairs, fine - coarse, -startExponent];
    native.call.device_scores(arrays.struct(given), 2 ** -fine, log10, precision);
    return arrays.scores(log10, precision, batch.pairs);
  });
}
