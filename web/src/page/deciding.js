// The bases that decide between a read's two likeliest haplotypes (pairhmm/report/reads.py).

import { CODE_OF_N } from "../letters.js";
import { ERROR, PROFILES } from "../models/parameters.js";
import { distinctRows, kindsOf, STARTS } from "../models/profile.js";

/** @import { UncertainRead } from "./choices.js" */
/** @import { PreparedRead } from "../call/core.js" */
/** @import { Native } from "../cpu/native.js" */
/** @typedef {ReturnType<typeof rowPosteriors>} RowPosteriors */

// A base is listed if it speaks for a haplotype by more than this (log10), or is inserted or deleted behind with more
// than this probability.
const SHOWN = 0.1;
const LETTERS = "ACGTNRYSWKMBDHV";
const ROW_SIZE = 12;

/**
 * A read's number among those shown, its two likeliest haplotypes, how far (log10) the first is ahead, and the bases: their
 * place, letter, quality, evidence (log10), and P(inserted) and letters deleted behind, by the first and by the second.
 *
 * @typedef {[number, number, number, number, [number, string, number, number, number, number, number, number][]]} Explained
 */

/** What the page keeps of a read that is explained once it is looked at. */
/** @typedef {UncertainRead & {letters: [Uint8Array, Uint8Array]}} Unexplained `read` is its number among those shown */

/** @param {Native} native @param {Unexplained} read @param {string | null} parameters a preset of the profile model; null for GATK's @returns {Explained} */
export function explained(native, read, parameters) {
  const profile = parameters && PROFILES[parameters];
  const rows = profile ? profileRows(read, profile) : gatkRows(read);
  const start = STARTS[/** @type {keyof typeof STARTS} */ (profile ? profile.start : "anywhere")];
  const [first, second] = read.letters.map((letters) => rowPosteriors(native, rows, letters, start));
  return [read.read, read.best, read.second, rounded(first.log10 - second.log10), deciding(read, first, second)];
}

/** @param {Unexplained} read @param {RowPosteriors} first @param {RowPosteriors} second @returns {Explained[4]} */
function deciding({ bases, quality }, first, second) {
  return Array.from(bases).flatMap((base, index) => {
    const evidence = first.emission[index] - second.emission[index];
    const gaps = [first.inserted[index], second.inserted[index], first.deleted[index], second.deleted[index]];
    const differs = Math.max(Math.abs(gaps[0] - gaps[1]), Math.abs(gaps[2] - gaps[3]));
    if (!(Math.abs(evidence) > SHOWN || differs > SHOWN)) return [];
    const [a, b, c, d] = gaps.map(rounded);
    return [[index, LETTERS[base], quality[index], rounded(evidence), a, b, c, d]];
  });
}

/** @param {number} value */
const rounded = (value) => Math.round(100 * value) / 100;

/**
 * What a haplotype makes of each base of a read: expected log10 emission beside its letters, P(inserted), and expected
 * letters that are deleted behind; and log10 P(read | haplotype).
 *
 * @param {Native} native
 * @param {Float64Array} rows [bases][12]
 * @param {Uint8Array} letters codes
 * @param {typeof STARTS["anywhere"]} start
 */
function rowPosteriors(native, rows, letters, { startMatch, startDeletion }) {
  const size = rows.length / ROW_SIZE;
  return native.with((arrays) => {
    const room = arrays.room(3 * rows.BYTES_PER_ELEMENT * size);
    const given = [arrays.pass(rows), size, arrays.pass(letters), letters.length, startMatch, startDeletion, room];
    const log10 = native.call.row_posteriors(...given);
    const all = arrays.read(Float64Array, room, 3 * size);
    const [emission, inserted, deleted] = [0, 1, 2].map((part) => all.subarray(part * size, (part + 1) * size));
    return { log10, emission, inserted, deleted };
  });
}

/** Rows of GATK's model (pairhmm/models/gatk.py). @param {PreparedRead} read @returns {Float64Array} [bases][12] */
function gatkRows({ bases, baseQuality, insertionQuality, deletionQuality, gapQuality }) {
  const rows = new Float64Array(bases.length * ROW_SIZE);
  bases.forEach((letter, index) => {
    const base = Math.min(letter, CODE_OF_N);
    const [error, insertion, deletion, gap] = [baseQuality, insertionQuality, deletionQuality, gapQuality].map(
      (quality) => ERROR[quality[index]],
    );
    const row = rows.subarray(index * ROW_SIZE);
    for (let beside = 0; beside < 5; beside++) {
      row[beside] = beside === base || beside === CODE_OF_N || base === CODE_OF_N ? 1 - error : error / 3;
    }
    row.set([1 - Math.min(1, insertion + deletion), 1 - gap, 1 - gap, insertion, gap, deletion, gap], 5);
  });
  return rows;
}

/** Rows of the profile model. @param {PreparedRead} read @param {import("../models/profile.js").ProfileParameters} parameters @returns {Float64Array} [bases][12] */
function profileRows({ bases, baseQuality }, parameters) {
  const all = distinctRows(parameters);
  const rows = new Float64Array(bases.length * ROW_SIZE);
  kindsOf(bases, baseQuality).forEach((kind, index) => {
    rows.set(all.subarray(kind * ROW_SIZE, (kind + 1) * ROW_SIZE), index * ROW_SIZE);
  });
  return rows;
}
