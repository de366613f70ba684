// The reads that choose a haplotype by the least, as they were scored (pairhmm/report/reads.py).

import { choiceOf, twoBest } from "../genomics/choices.js";

const READS = 4; // of a sample in a region

/**
 * A read cut to its region, with what the model takes of it.
 *
 * @typedef {object} PreparedRead
 * @property {Uint8Array} bases codes
 * @property {Uint8Array} quality Phred, as sequenced
 * @property {Uint8Array} baseQuality Phred, prepared
 * @property {Uint8Array} insertionQuality empty for the profile model
 * @property {Uint8Array} deletionQuality
 * @property {Uint8Array} gapQuality
 */

/** @typedef {PreparedRead & {read: number, best: number, second: number}} UncertainRead a read's index, and its two likeliest haplotypes */

/**
 * @param {Float64Array} log10 [reads][haplotypes]
 * @param {number} width
 * @param {ArrayLike<number>} samples of the reads
 * @param {(read: number) => PreparedRead} prepared
 * @returns {UncertainRead[]}
 */
export function uncertainReads(log10, width, samples, prepared) {
  if (width < 2) return [];
  const scores = (/** @type {number} */ read) => log10.subarray(read * width, (read + 1) * width);
  const choices = Array.from(samples, (_, read) => choiceOf(scores(read), read)).filter((one) => one.decided);
  choices.sort((a, b) => a.margin - b.margin || a.read - b.read);
  /** @type {Map<number, number>} */
  const taken = new Map();
  const least = choices.filter(({ read }) => {
    const before = taken.get(samples[read]) ?? 0;
    taken.set(samples[read], before + 1);
    return before < READS;
  });
  return least.map(({ read }) => {
    const [best, second] = twoBest(scores(read));
    return { read, best, second, ...prepared(read) };
  });
}
