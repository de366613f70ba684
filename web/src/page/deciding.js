// The bases that decide between a read's two likeliest haplotypes (pairhmm/report/reads.py).

import { PROFILES } from "../models/parameters.js";
import { ProfileModel } from "../models/profile.js";
import { basePosteriors, gatkRows, profileRows } from "./posterior.js";

/** @typedef {import("./choices.js").UncertainRead} UncertainRead */
/** @typedef {import("./posterior.js").BasePosteriors} BasePosteriors */

// A base is listed if it speaks for a haplotype by more than this (log10), or is inserted or deleted behind with more
// than this probability.
const SHOWN = 0.1;
const LETTERS = "ACGTNRYSWKMBDHV";
const GATK_START = { match: 0, deletion: 1 };

/**
 * A read's number among those shown, its two likeliest haplotypes, how far (log10) the first is ahead, and the bases: their
 * place, letter, quality, evidence (log10), and P(inserted) and letters deleted behind, by the first and by the second.
 *
 * @typedef {[number, number, number, number, [number, string, number, number, number, number, number, number][]]} Explained
 */

/** What the page keeps of a read that is explained once it is looked at. */
/** @typedef {UncertainRead & {letters: [Uint8Array, Uint8Array]}} Unexplained `read` is its number among those shown */

/** @param {Unexplained} read @param {string | null} parameters a preset of the profile model; null for GATK's @returns {Explained} */
export function explained(read, parameters) {
  const model = parameters === null ? null : new ProfileModel(PROFILES[parameters]);
  const rows = model ? profileRows(read, model) : gatkRows(read);
  const start = model ? { match: model.startMatch, deletion: model.startDeletion } : GATK_START;
  const [first, second] = read.letters.map((letters) => basePosteriors(rows, letters, start));
  return [read.read, read.best, read.second, rounded(first.log10 - second.log10), deciding(read, first, second)];
}

/** @param {Unexplained} read @param {BasePosteriors} first @param {BasePosteriors} second @returns {Explained[4]} */
function deciding({ bases, quality }, first, second) {
  return Array.from(bases).flatMap((base, index) => {
    const evidence = first.emission[index] - second.emission[index];
    const gaps = [first.inserted[index], second.inserted[index], first.deleted[index], second.deleted[index]];
    const differs = Math.max(Math.abs(gaps[0] - gaps[1]), Math.abs(gaps[2] - gaps[3]));
    if (Math.abs(evidence) <= SHOWN && differs <= SHOWN) return [];
    const [a, b, c, d] = gaps.map(rounded);
    return [[index, LETTERS[base], quality[index], rounded(evidence), a, b, c, d]];
  });
}

/** @param {number} value */
const rounded = (value) => Math.round(100 * value) / 100;
