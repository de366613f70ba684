// Which haplotype reads choose, and the reads that choose by the least (pairhmm/report/panels.py, reads.py).

import { INFORMATIVE } from "../models/parameters.js";

const IMPOSSIBLE = -1e9; // stands for a likelihood of zero
const READS = 4; // of a sample in a region

/**
 * The haplotype that a read is likeliest from, the second one, and how far (log10) the first is ahead.
 *
 * @param {Float64Array} scores
 * @param {number} read
 */
export function choiceOf(scores, read) {
  if (scores.length < 2) return { read, haplotype: 0, second: 0, margin: 0, decided: false };
  const known = Array.from(scores, (score) => (Number.isFinite(score) ? score : IMPOSSIBLE));
  const best = Math.max(...known);
  const haplotype = known.indexOf(best);
  known[haplotype] = -Infinity;
  const next = Math.max(...known);
  return { read, haplotype, second: known.indexOf(next), margin: best - next, decided: best - next > INFORMATIVE };
}

/** @typedef {ReturnType<typeof choiceOf>} Choice */

/** @typedef {import("../call/core.js").PreparedRead & {read: number, best: number, second: number}} UncertainRead a read's index, and its two likeliest haplotypes */

/** The reads of each sample that choose a haplotype by the least. @param {import("../call/events.js").RegionEvent} event @returns {UncertainRead[]} */
export function uncertainReads({ log10, sample, prepared }) {
  const width = log10.length / sample.length;
  const scores = (/** @type {number} */ read) => log10.subarray(read * width, (read + 1) * width);
  const choices = Array.from(sample, (_, read) => choiceOf(scores(read), read)).filter((one) => one.decided);
  choices.sort((a, b) => a.margin - b.margin || a.read - b.read);
  /** @type {Map<number, number>} */
  const taken = new Map();
  const least = choices.filter(({ read }) => {
    const before = taken.get(sample[read]) ?? 0;
    taken.set(sample[read], before + 1);
    return before < READS;
  });
  return least.map(({ read, haplotype: best, second }) => ({ read, best, second, ...prepared(read) }));
}
