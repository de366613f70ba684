// Batches cut into pieces, for workers and devices: consecutive reads, each with the haplotypes of its group.

/** @import { Batch } from "./batch.js" */

/**
 * Reads of a batch, `first` to `end` - 1, their first pair, and their cells of whole matrices.
 *
 * @typedef {{first: number, end: number, pair: number, cells: number}} Piece
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
const SMALLEST = 5e6; // cells of a piece that is worth a message: about a millisecond
const LARGEST = 1e8; // and of one whose end is soon

/**
 * Pieces for workers that take one after another. The last ones are the smallest, so that all workers end together.
 *
 * @param {Batch} batch
 * @param {number} workers
 * @returns {Piece[]}
 */
export function cut(batch, workers) {
  let left = cellsOf(batch);
  const most = () => Math.min(LARGEST, workers > 1 ? Math.max(SMALLEST, left / (2 * workers)) : LARGEST);
  /** @type {Piece[]} */
  const pieces = [];
  for (const piece of piecesOf(batch, most)) {
    pieces.push(piece);
    left -= piece.cells;
  }
  return pieces;
}

/**
 * Pieces of a batch. Groups stay whole where they are small: their reads share trees, and are scored beside others of the
 * same length.
 *
 * @param {Batch} batch
 * @param {() => number} mostCells of a piece of more than a few reads; asked again for each
 * @param {number} [mostPairs] likewise
 * @returns {Generator<Piece>}
 */
export function* piecesOf(
  { groups, groupRead, groupHaplotype, haplotypeOffset, readOffset },
  mostCells,
  mostPairs = Infinity,
) {
  const piece = { first: 0, end: 0, pair: 0, cells: 0 };
  let pairs = 0;
  for (let g = 0; g < groups; g++) {
    const haplotypes = groupHaplotype[g + 1] - groupHaplotype[g];
    const letters = haplotypeOffset[groupHaplotype[g + 1]] - haplotypeOffset[groupHaplotype[g]];
    const end = groupRead[g + 1];
    const cellsTo = (/** @type {number} */ to) => letters * (readOffset[to] - readOffset[piece.end]);
    const isWhole = cellsTo(end) <= mostCells() && haplotypes * (end - groupRead[g]) <= mostPairs;
    while (piece.end < end) {
      const next = isWhole ? end : Math.min(end, piece.end + LANES);
      const more = haplotypes * (next - piece.end);
      if (pairs && (piece.cells + cellsTo(next) > mostCells() || pairs + more > mostPairs)) {
        yield { ...piece };
        Object.assign(piece, { first: piece.end, pair: piece.pair + pairs, cells: 0 });
        pairs = 0;
      }
      piece.cells += cellsTo(next);
      pairs += more;
      piece.end = next;
    }
  }
  if (pairs) yield piece;
}

/** Cells of whole matrices. @param {Batch} batch */
export function cellsOf({ groups, groupRead, groupHaplotype, readOffset, haplotypeOffset }) {
  let cells = 0;
  for (let g = 0; g < groups; g++) {
    const bases = readOffset[groupRead[g + 1]] - readOffset[groupRead[g]];
    cells += bases * (haplotypeOffset[groupHaplotype[g + 1]] - haplotypeOffset[groupHaplotype[g]]);
  }
  return cells;
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
  const letters = [batch.haplotypeOffset[haplotype], batch.haplotypeOffset[haplotypeEnd]];
  const [base, baseEnd] = [batch.readOffset[first], batch.readOffset[end]];
  const taken = {
    ...batch,
    groups: groupEnd - group,
    pairs: firstPairs(groupRead, groupHaplotype)[groupEnd - group],
    groupRead,
    groupHaplotype,
    readOffset: fromZero(batch.readOffset, first, end),
    haplotypeOffset: fromZero(batch.haplotypeOffset, haplotype, haplotypeEnd),
    haplotypes: batch.haplotypes.slice(...letters),
    flags: batch.flags.slice(...letters),
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
