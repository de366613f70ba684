// Merges blocks of reads of several inputs by coordinate (pairhmm/alignments/merged_blocks.py).

import { lowerBound } from "../arrays.js";
import { ReadBlock } from "./read_block.js";

/** @typedef {{block: ReadBlock, start: Int32Array, taken: number}} Head the block that comes next of an input */

/**
 * The reads by contig, start and input, as far as they are known; those of an input keep their order.
 *
 * @param {AsyncGenerator<ReadBlock>[]} streams one an input
 * @param {Map<string, number>} rank the order of the contigs
 * @returns {AsyncGenerator<ReadBlock>}
 */
export async function* mergedBlocks(streams, rank) {
  /** @type {Map<number, Head>} */
  const heads = new Map();
  /** @param {number} order */
  const next = async (order) => {
    const { value, done } = await streams[order].next();
    if (done) heads.delete(order);
    else heads.set(order, { block: value, start: value.start, taken: 0 });
  };
  for (const order of streams.keys()) await next(order);
  /** @param {Head} head */
  const contigOf = (head) => /** @type {number} */ (rank.get(head.block.chrom));
  while (heads.size) {
    const contig = Math.min(...[...heads.values()].map(contigOf));
    const open = [...heads].filter(([, head]) => contigOf(head) === contig).sort(([a], [b]) => a - b);
    // What comes next may start at the last read of the block that ends first, and goes before later inputs.
    const ends = open.map(([order, { start }]) => ({ order, last: start[start.length - 1] }));
    const first = ends.reduce((best, one) => (one.last < best.last ? one : best));
    const parts = open.map(([order, { block, start, taken }]) => {
      return { block, first: taken, end: lowerBound(start, first.last + Number(order <= first.order)) };
    });
    const piece = ReadBlock.merged(parts);
    for (const [index, [order, head]] of open.entries()) {
      head.taken = parts[index].end;
      if (head.taken < head.block.length) continue;
      head.block.release();
      await next(order);
    }
    if (piece.length) yield piece;
    else piece.release();
  }
}
