// Batches cut into parts that a device takes at once.

import { takeReads } from "../pieces.js";

/** @import { Batch } from "../batch.js" */

/**
 * Parts of a batch, consecutive reads each, and the first pair of each.
 *
 * @param {Batch} batch
 * @param {() => number} mostCells of a part, of whole matrices; asked again for each part
 * @param {number} mostPairs
 * @returns {Generator<{part: Batch, pair: number}>}
 */
export function* chunks(batch, mostCells, mostPairs) {
  const { groups, groupRead, groupHaplotype, haplotypeOffset, readOffset } = batch;
  let first = 0;
  let firstPair = 0;
  let pair = 0;
  let cells = 0;
  for (let g = 0; g < groups; g++) {
    const haplotypes = groupHaplotype[g + 1] - groupHaplotype[g];
    const letters = haplotypeOffset[groupHaplotype[g + 1]] - haplotypeOffset[groupHaplotype[g]];
    for (let read = groupRead[g]; read < groupRead[g + 1]; read++) {
      const own = letters * (readOffset[read + 1] - readOffset[read]);
      const isFull = cells + own > mostCells() || pair + haplotypes - firstPair > mostPairs;
      if (isFull && pair > firstPair) {
        yield { part: takeReads(batch, first, read), pair: firstPair };
        [first, firstPair, cells] = [read, pair, 0];
      }
      pair += haplotypes;
      cells += own;
    }
  }
  if (firstPair === 0 && pair > 0) yield { part: batch, pair: 0 };
  else if (pair > firstPair) yield { part: takeReads(batch, first, groupRead[groups]), pair: firstPair };
}
