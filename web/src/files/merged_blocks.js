// Merges blocks of reads of several inputs by coordinate (pairhmm/alignments/merged_blocks.py).

import { lowerBound } from "../genomics/arrays.js";
import { ReadBlock } from "../genomics/blocks.js";

/** @typedef {{block: ReadBlock, taken: number}} Head the block that comes next of an input */

/**
 * Blocks of `chunkSize` reads by contig, start and input; the reads of an input keep their order.
 *
 * @param {AsyncGenerator<ReadBlock>[]} streams one an input
 * @param {Map<string, number>} rank the order of the contigs
 * @param {number} chunkSize
 * @returns {AsyncGenerator<ReadBlock>}
 */
export async function* mergedBlocks(streams, rank, chunkSize) {
  /** @type {ReadBlock[]} */
  let held = [];
  for await (const piece of pieces(streams, rank)) {
    if (held.length && held[0].chrom !== piece.chrom) {
      yield ReadBlock.concatenate(held);
      held = [];
    }
    held.push(piece);
    if (held.reduce((sum, one) => sum + one.length, 0) >= chunkSize) {
      yield ReadBlock.concatenate(held);
      held = [];
    }
  }
  if (held.length) yield ReadBlock.concatenate(held);
}

/** The merged reads, as far as they are known. @param {AsyncGenerator<ReadBlock>[]} streams @param {Map<string, number>} rank */
async function* pieces(streams, rank) {
  /** @type {Map<number, Head>} */
  const heads = new Map();
  /** @param {number} order */
  const next = async (order) => {
    const { value, done } = await streams[order].next();
    if (done) heads.delete(order);
    else heads.set(order, { block: value, taken: 0 });
  };
  for (const order of streams.keys()) await next(order);
  /** @param {Head} head */
  const contigOf = (head) => /** @type {number} */ (rank.get(head.block.chrom));
  while (heads.size) {
    const contig = Math.min(...[...heads.values()].map(contigOf));
    const open = [...heads].filter(([, head]) => contigOf(head) === contig).sort(([a], [b]) => a - b);
    // What comes next may start at the last read of the block that ends first, and goes before later inputs.
    const ends = open.map(([order, { block }]) => ({ order, last: block.start[block.length - 1] }));
    const first = ends.reduce((best, one) => (one.last < best.last ? one : best));
    /** @type {ReadBlock[]} */
    const taken = [];
    for (const [order, head] of open) {
      const until = lowerBound(head.block.start, first.last + Number(order <= first.order));
      taken.push(head.block.take(Uint32Array.from({ length: until - head.taken }, (_, i) => head.taken + i)));
      head.taken = until;
      if (until === head.block.length) await next(order);
    }
    const together = ReadBlock.concatenate(taken);
    if (!together.length) continue;
    // The sort is stable: reads of one start stay in the order of the inputs.
    yield together.take(
      Uint32Array.from({ length: together.length }, (_, i) => i).sort(
        (a, b) => together.start[a] - together.start[b] || a - b,
      ),
    );
  }
}
