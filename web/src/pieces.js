// Batches cut into pieces for workers: consecutive reads, each with the haplotypes of its group.

/** @import { Batch } from "./batch.js" */

/**
 * Reads of a batch, `first` to `end` - 1, and their first pair.
 *
 * @typedef {{first: number, end: number, pair: number}} Piece
 */

const OF_BASES = /** @type {const} */ ([
  "bases",
  "baseQuality",
  "insertionQuality",
  "deletionQuality",
  "gapQuality",
  "kinds",
]);
const ROW_SIZE = 12; // numbers of a row (pairhmm/models/batch.py)
const LANES = 4; // reads that are scored side by side
const ROW = 64; // cells that take as long as what a read's row takes beside its cells
const SMALLEST = 3e6; // cells of a piece that is worth a message: about a millisecond
const LARGEST = 64e6; // and of one whose end is soon

/**
 * Pieces for workers that take one after another. The last ones are the smallest, so that all workers end together.
 * Groups stay whole where they are small: their reads share trees, and are scored beside others of the same length.
 *
 * @param {Batch} batch
 * @param {number} workers
 * @returns {Piece[]}
 */
export function cut(batch, workers) {
  const { groupRead, groupHaplotype, readOffset } = batch;
  const each = Float64Array.from({ length: batch.groups }, (_, group) => computedColumns(batch, group) + ROW);
  const costOf = (/** @type {number} */ g, /** @type {number} */ read) =>
    each[g] * (readOffset[groupRead[g + 1]] - readOffset[read]);
  let left = 0;
  for (let g = 0; g < batch.groups; g++) left += costOf(g, groupRead[g]);
  const most = () => Math.min(LARGEST, workers > 1 ? Math.max(SMALLEST, left / (2 * workers)) : LARGEST);
  /** @type {Piece[]} */
  const pieces = [];
  let first = 0;
  let taken = 0;
  let pair = 0;
  let ofPiece = 0;
  let full = most();
  for (let g = 0; g < batch.groups; g++) {
    const haplotypes = groupHaplotype[g + 1] - groupHaplotype[g];
    for (let read = groupRead[g]; read < groupRead[g + 1]; read++) {
      const begins = read === groupRead[g];
      const mayEnd = begins || ((read - Math.max(first, groupRead[g])) % LANES === 0 && costOf(g, read) > full / 2);
      if (taken >= full && mayEnd) {
        pieces.push({ first, end: read, pair: ofPiece });
        left -= taken;
        full = most();
        [first, taken, ofPiece] = [read, 0, pair];
      }
      taken += each[g] * (readOffset[read + 1] - readOffset[read]);
      pair += haplotypes;
    }
  }
  if (pair > ofPiece) pieces.push({ first, end: groupRead[batch.groups], pair: ofPiece });
  return pieces;
}

/**
 * Columns that a group's reads are computed in, about: haplotypes share those at their common ends.
 *
 * @param {Batch} batch
 * @param {number} group
 */
function computedColumns({ groupHaplotype, haplotypeOffset: offset, haplotypes }, group) {
  let columns = 0;
  for (let h = groupHaplotype[group]; h < groupHaplotype[group + 1]; h++) {
    const size = offset[h + 1] - offset[h];
    columns += size;
    if (h === groupHaplotype[group]) continue;
    const most = Math.min(size, offset[h] - offset[h - 1]) >> 1;
    let before = 0;
    while (before < most && haplotypes[offset[h] + before] === haplotypes[offset[h - 1] + before]) before++;
    let behind = 0;
    while (behind < most && haplotypes[offset[h + 1] - 1 - behind] === haplotypes[offset[h] - 1 - behind]) behind++;
    columns -= before + behind;
  }
  return columns;
}

/**
 * Some reads of a batch as a batch of their own, in arrays of their own. Its pairs are consecutive pairs of the whole.
 *
 * @param {Batch} batch
 * @param {number} first
 * @param {number} end one past the last read
 * @returns {Batch}
 */
export function takeReads(batch, first, end) {
  let group = 0;
  while (group + 1 < batch.groups && batch.groupRead[group + 1] <= first) group++;
  let groupEnd = group;
  while (groupEnd < batch.groups && batch.groupRead[groupEnd] < end) groupEnd++;
  const groupHaplotype = fromZero(batch.groupHaplotype, group, groupEnd);
  const haplotype = batch.groupHaplotype[group];
  const haplotypeEnd = batch.groupHaplotype[groupEnd];
  const groupRead = batch.groupRead
    .slice(group, groupEnd + 1)
    .map((read) => Math.min(Math.max(read, first), end) - first);
  const [base, baseEnd] = [batch.readOffset[first], batch.readOffset[end]];
  const taken = {
    ...batch,
    groups: groupEnd - group,
    pairs: firstPairs(groupRead, groupHaplotype)[groupEnd - group],
    groupRead,
    groupHaplotype,
    readOffset: fromZero(batch.readOffset, first, end),
    haplotypeOffset: fromZero(batch.haplotypeOffset, haplotype, haplotypeEnd),
    haplotypes: batch.haplotypes.slice(batch.haplotypeOffset[haplotype], batch.haplotypeOffset[haplotypeEnd]),
  };
  // Rows that `kinds` names are those of the whole batch.
  const rows = batch.kinds.length > 0 ? [0, batch.rows.length] : [ROW_SIZE * base, ROW_SIZE * baseEnd];
  taken.rows = batch.rows.slice(rows[0], rows[1]);
  return { ...taken, ...Object.fromEntries(OF_BASES.map((name) => [name, batch[name].slice(base, baseEnd)])) };
}

/**
 * The buffers of arrays, for a message that moves them.
 *
 * @param {object} arrays
 * @returns {ArrayBuffer[]}
 */
export function buffersOf(arrays) {
  return Object.values(arrays).flatMap((value) =>
    ArrayBuffer.isView(value) ? [/** @type {ArrayBuffer} */ (value.buffer)] : [],
  );
}

/** The first pair of each group, and their number. @param {Uint32Array} groupRead @param {Uint32Array} groupHaplotype */
export function firstPairs(groupRead, groupHaplotype) {
  const first = new Uint32Array(groupRead.length);
  for (let g = 0; g + 1 < groupRead.length; g++) {
    first[g + 1] = first[g] + (groupRead[g + 1] - groupRead[g]) * (groupHaplotype[g + 1] - groupHaplotype[g]);
  }
  return first;
}

/** @param {Uint32Array} offsets @param {number} first @param {number} end */
function fromZero(offsets, first, end) {
  return offsets.slice(first, end + 1).map((at) => at - offsets[first]);
}
