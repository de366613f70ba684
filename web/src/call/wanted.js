// The intervals in which listed candidates need reads (pairhmm/calling/shard_runs.py).

import { MAX_SHIFT, variantExtent } from "../genomics/regions.js";

/** @typedef {import("../files/intervals.js").Interval} Interval */
/** @typedef {import("../genomics/regions.js").FetchBases} FetchBases */
/** @typedef {import("../genomics/variants.js").Variant} Variant */

/**
 * Disjoint intervals, in the order of the list. They extend `reach` bases beyond the candidates on either side.
 *
 * @param {AsyncIterable<Variant>} listed
 * @param {FetchBases} fetch
 * @param {number} reach
 * @returns {AsyncGenerator<Interval>}
 */
export async function* wantedIntervals(listed, fetch, reach) {
  /** @type {Interval | null} */
  let current = null;
  for await (const variant of listed) {
    const { chrom } = variant;
    const [first, last] = await variantExtent(variant, fetch);
    const [start, end] = [Math.max(0, first - reach), last + reach];
    // An extent begins up to MAX_SHIFT bases before its record. Later extents can begin before earlier ones.
    if (current && (chrom !== current.chrom || start > current.end + 2 * MAX_SHIFT)) {
      yield current;
      current = null;
    }
    if (!current) current = { chrom, start, end };
    else current = { chrom, start: Math.min(current.start, start), end: Math.max(current.end, end) };
  }
  if (current) yield current;
}
