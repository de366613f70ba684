// Checks that the parts of a BAI or CSI agree: reads are found through both parts, the bins and the table of offsets
// (pairhmm/alignments/index_checks.py).

import { bins, compare, DamagedIndex, later } from "./bam_index.js";

/** @typedef {import("./bam_index.js").BamIndex} BamIndex */
/** @typedef {import("./bam_index.js").Chunk} Chunk */

/** Requires that chunks, and the table of offsets, are in the order of the file. @param {BamIndex} index @throws {DamagedIndex} */
export function requireRising(index) {
  const order = inFileOrder(index);
  if (order.some(({ begin }, i) => i > 0 && compare(begin, order[i - 1].begin) < 0)) {
    throw new DamagedIndex("reads of a contig lie among those of another");
  }
  index.chunks.forEach((chunks, contig) => {
    const begins = windowsOfChunks(index, chunks);
    if (chunks.some(({ bin }, i) => begins[i] >= index.windowOf(index.spanOfBin(bin)[1]))) {
      throw new DamagedIndex("its bins are in another order than the reads");
    }
    const known = index.starts[contig];
    const { first, last } = extent(chunks);
    if (last && known.some(({ offset }) => compare(offset, first) < 0 || compare(offset, last) >= 0)) {
      throw new DamagedIndex("an offset lies outside the reads of its contig");
    }
    if (order.length && known.some(({ offset }, i) => i > 0 && compare(offset, known[i - 1].offset) < 0)) {
      throw new DamagedIndex("its offsets do not rise");
    }
  });
}

/** The chunks as their reads lie in the file. @param {BamIndex} index */
export function inFileOrder(index) {
  return index.chunks.flat();
}

/** Where a contig's first chunk begins, and its last one ends. @param {Chunk[]} chunks of it, in order */
export function extent(chunks) {
  return chunks.length
    ? { first: chunks[0].begin, last: chunks.map(({ end }) => end).reduce(later) }
    : { first: null, last: null };
}

/** The chunks whose first read lies before the offset at which the reads of its window begin. @param {BamIndex} index */
export function passedOver(index) {
  return index.chunks.flatMap((chunks, contig) => {
    const begins = windowsOfChunks(index, chunks);
    const known = index.starts[contig];
    let at = -1;
    return chunks.filter(({ begin }, i) => {
      while (at + 1 < known.length && known[at + 1].window <= begins[i]) at++;
      return at >= 0 && compare(known[at].offset, begin) > 0;
    });
  });
}

/** Where each part of the file begins that belongs to no chunk, and where the chunk behind it begins. @param {BamIndex} index */
export function gaps(index) {
  const found = [];
  const order = inFileOrder(index);
  let before = order[0]?.end;
  for (const { begin, end } of order) {
    if (compare(begin, before) > 0) found.push({ begin: before, end: begin });
    before = later(before, end);
  }
  return found;
}

/** For each chunk of a contig the first window that its first read may begin in, which is no earlier than that before. @param {BamIndex} index @param {Chunk[]} chunks */
function windowsOfChunks(index, chunks) {
  let window = 0;
  return chunks.map(({ bin }) => {
    // Reads that lie before their contig's start have a bin, too: the number before that of the smallest bins.
    const start = bin === bins(index.depth) - 1 ? 0 : index.spanOfBin(bin)[0];
    return (window = Math.max(window, index.windowOf(start)));
  });
}
