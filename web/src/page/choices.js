// Which haplotype reads choose, and the reads that choose by the least (pairhmm/report/panels.py, reads.py).

import { INFORMATIVE } from "../models/parameters.js";

const IMPOSSIBLE = -1e9; // stands for a likelihood of zero
const READS = 4; // of a sample in a region

/**
 * The haplotype that a read is likeliest from, and how far (log10) it is ahead of the next one.
 *
 * @param {Float64Array} scores
 * @param {number} read
 */
export function choiceOf(scores, read) {
  if (scores.length < 2) return { read, haplotype: 0, margin: 0, decided: false };
  const known = Array.from(scores, (score) => (Number.isFinite(score) ? score : IMPOSSIBLE));
  const best = Math.max(...known);
  const haplotype = known.indexOf(best);
  const margin = best - Math.max(...known.filter((_, column) => column !== haplotype));
  return { read, haplotype, margin, decided: margin > INFORMATIVE };
}

/** @typedef {ReturnType<typeof choiceOf>} Choice */

/** The two likeliest haplotypes; of equal ones the first. @param {Float64Array} scores at least two @returns {[number, number]} */
function twoBest(scores) {
  const order = Array.from(scores.keys()).sort((a, b) => {
    return (
      (Number.isFinite(scores[b]) ? scores[b] : -Infinity) - (Number.isFinite(scores[a]) ? scores[a] : -Infinity) ||
      a - b
    );
  });
  return [order[0], order[1]];
}

/** @typedef {import("../call/core.js").PreparedRead & {read: number, best: number, second: number}} UncertainRead a read's index, and its two likeliest haplotypes */

/** The reads of each sample that choose a haplotype by the least. @param {import("../call/events.js").RegionEvent} event @returns {UncertainRead[]} */
export function uncertainReads({ log10, haplotypes, reads, prepared }) {
  const width = haplotypes.length;
  const scores = (/** @type {number} */ read) => log10.subarray(read * width, (read + 1) * width);
  const choices = reads.map((_, read) => choiceOf(scores(read), read)).filter((one) => one.decided);
  choices.sort((a, b) => a.margin - b.margin || a.read - b.read);
  /** @type {Map<number, number>} */
  const taken = new Map();
  const least = choices.filter(({ read }) => {
    const { sample } = reads[read];
    const before = taken.get(sample) ?? 0;
    taken.set(sample, before + 1);
    return before < READS;
  });
  return least.map(({ read }) => {
    const [best, second] = twoBest(scores(read));
    return { read, best, second, ...prepared(read) };
  });
}
