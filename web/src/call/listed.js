// Listed candidates, and where they need reads (pairhmm/calling/shard_runs.py). All coordinates are 0-based half-open.

import { variantExtent } from "./core.js";

/** @import { Native } from "../cpu/native.js" */
/** @import { Variant } from "../files/candidates.js" */
/** @import { UnrolledReference } from "./circles.js" */
/** @import { Interval } from "../files/intervals.js" */

/** @typedef {Variant & {extent: Interval}} Listed */

/**
 * The variants of a list in some places, or everywhere, with their extents.
 *
 * @param {AsyncIterable<Variant>} variants
 * @param {import("./places.js").Extent | null} places
 * @param {Native} native
 * @param {UnrolledReference} reference
 * @returns {AsyncGenerator<Listed>}
 */
export async function* listedWithin(variants, places, native, reference) {
  for await (const one of variants) {
    if (places && !places.has(one.chrom, one.pos)) continue;
    yield { ...one, extent: await variantExtent(native, reference, one) };
  }
}

/**
 * Disjoint intervals, in the order of the list. They extend `reach` bases beyond the candidates on either side.
 *
 * @param {AsyncIterable<Listed>} listed
 * @param {number} reach
 * @param {number} shift
 * @returns {AsyncGenerator<Interval>}
 */
export async function* wantedIntervals(listed, reach, shift) {
  /** @type {Interval | null} */
  let current = null;
  for await (const { extent } of listed) {
    const { chrom } = extent;
    const [start, end] = [Math.max(0, extent.start - reach), extent.end + reach];
    // An extent begins up to `shift` bases before its record. Later extents can begin before earlier ones.
    if (current && (chrom !== current.chrom || start > current.end + 2 * shift)) {
      yield current;
      current = null;
    }
    if (!current) current = { chrom, start, end };
    else current = { chrom, start: Math.min(current.start, start), end: Math.max(current.end, end) };
  }
  if (current) yield current;
}

/**
 * Generators of the same items, each of which is held until all have given it.
 *
 * @template Item
 * @param {AsyncGenerator<Item>} items
 * @param {number} count
 */
export function tee(items, count) {
  /** @returns {() => Promise<any>} */
  const link = () => {
    /** @type {Promise<object> | undefined} */
    let read;
    return () => (read ??= items.next().then((one) => ({ ...one, next: link() })));
  };
  return Array(count)
    .fill(link())
    .map((first) => /** @type {AsyncGenerator<Item>} */ (copyFrom(first)));
}

/** @param {() => Promise<any>} next */
async function* copyFrom(next) {
  for (;;) {
    const one = await next();
    if (one.done) return;
    next = one.next;
    yield one.value;
  }
}
