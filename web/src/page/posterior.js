// Forward-backward of a read and a haplotype in float64 (pairhmm/forward/posterior_reference.py has the recurrences).
//
// Each row is divided by its largest forward value, forward and backward alike, so that no row underflows.

import { CODE_OF_N } from "../letters.js";
import { ERROR } from "../models/parameters.js";

/** @typedef {import("../call/core.js").PreparedRead} PreparedRead */
/** @typedef {import("../models/profile.js").ProfileModel} ProfileModel */

/**
 * What a haplotype makes of each base of a read.
 *
 * @typedef {object} BasePosteriors
 * @property {number} log10 log10 P(read | haplotype)
 * @property {Float64Array} emission expected log10 emission beside the haplotype's letters
 * @property {Float64Array} inserted P(base is inserted)
 * @property {Float64Array} deleted expected letters that are deleted behind the base
 */

/** @typedef {{match: Float64Array, insertion: Float64Array, deletion: Float64Array}} States [bases + 1][letters + 2] */

/**
 * @param {Float64Array} rows [bases][12]
 * @param {Uint8Array} letters codes
 * @param {{match: number, deletion: number}} start M[0,0], and D[0,j] as a multiple of 1/n
 * @returns {BasePosteriors}
 */
export function basePosteriors(rows, letters, start) {
  const size = rows.length / ROW_SIZE;
  const width = letters.length + 2;
  const { states, scales } = forward(rows, letters, start);
  let total = 0;
  for (let j = 1; j <= letters.length; j++) {
    total += states.match[size * width + j] + states.insertion[size * width + j];
  }
  const back = backward(rows, letters, scales);
  const [emission, inserted, deleted] = [0, 0, 0].map(() => new Float64Array(size));
  for (let i = 1; i <= size; i++) {
    const row = rows.subarray((i - 1) * ROW_SIZE, i * ROW_SIZE);
    const logs = Array.from(row.subarray(0, 5), (value) => Math.log10(Math.max(value, Number.MIN_VALUE)));
    for (let j = 1; j <= letters.length; j++) {
      const at = i * width + j;
      emission[i - 1] += ((states.match[at] * back.match[at]) / total) * logs[letters[j - 1]];
      inserted[i - 1] += (states.insertion[at] * back.insertion[at]) / total;
      deleted[i - 1] += (states.deletion[at] * back.deletion[at]) / total;
    }
  }
  const scaled = scales.reduce((sum, scale) => sum + Math.log10(scale), 0);
  return { log10: Math.log10(total) - scaled, emission, inserted, deleted };
}

/** @param {number} size @param {number} width @returns {States} */
function zeros(size, width) {
  const [match, insertion, deletion] = [0, 0, 0].map(() => new Float64Array((size + 1) * width));
  return { match, insertion, deletion };
}

/** Forward values, and the factor that each row was multiplied by. @param {Float64Array} rows @param {Uint8Array} letters @param {{match: number, deletion: number}} start */
function forward(rows, letters, start) {
  const size = rows.length / ROW_SIZE;
  const width = letters.length + 2;
  const states = zeros(size, width);
  const { match, insertion, deletion } = states;
  const scales = new Float64Array(size);
  deletion.fill(1 / letters.length, 1, width - 1);
  deletion[0] = start.deletion / letters.length;
  match[0] = start.match;
  for (let i = 1; i <= size; i++) {
    const row = rows.subarray((i - 1) * ROW_SIZE, i * ROW_SIZE);
    const [mm, im, dm, mi, ii, md, dd] = row.subarray(5);
    let largest = 0;
    for (let j = 1; j <= letters.length; j++) {
      const at = i * width + j;
      const above = at - width;
      const into = mm * match[above - 1] + im * insertion[above - 1] + dm * deletion[above - 1];
      match[at] = row[letters[j - 1]] * into;
      insertion[at] = mi * match[above] + ii * insertion[above];
      deletion[at] = md * match[at - 1] + dd * deletion[at - 1];
      largest = Math.max(largest, match[at], insertion[at], deletion[at]);
    }
    const scale = largest > 0 ? 1 / largest : 1;
    scales[i - 1] = scale;
    for (let at = i * width; at < (i + 1) * width; at++) {
      match[at] *= scale;
      insertion[at] *= scale;
      deletion[at] *= scale;
    }
  }
  return { states, scales };
}

/** Backward values: of each cell, the probability of the rest of the read. @param {Float64Array} rows @param {Uint8Array} letters @param {Float64Array} scales of the forward rows */
function backward(rows, letters, scales) {
  const size = rows.length / ROW_SIZE;
  const width = letters.length + 2;
  const states = zeros(size, width);
  const { match, insertion, deletion } = states;
  match.fill(1, size * width + 1, (size + 1) * width - 1);
  insertion.fill(1, size * width + 1, (size + 1) * width - 1);
  for (let i = size; i >= 1; i--) {
    const [, , , , , md, dd] = rows.subarray((i - 1) * ROW_SIZE + 5, i * ROW_SIZE);
    const next = rows.subarray(i * ROW_SIZE, (i + 1) * ROW_SIZE);
    for (let j = letters.length; j >= 1; j--) {
      const at = i * width + j;
      if (i < size) {
        const [mm, im, dm, mi, ii] = next.subarray(5);
        const below = at + width;
        const beyond = j < letters.length ? next[letters[j]] * match[below + 1] : 0;
        match[at] = (mm * beyond + mi * insertion[below]) * scales[i];
        insertion[at] = (im * beyond + ii * insertion[below]) * scales[i];
        deletion[at] = dm * beyond * scales[i];
      }
      deletion[at] += dd * deletion[at + 1];
      match[at] += md * deletion[at + 1];
    }
  }
  return states;
}

export const ROW_SIZE = 12;

/** Rows of GATK's model (pairhmm/models/gatk.py). @param {PreparedRead} read @returns {Float64Array} [bases][12] */
export function gatkRows({ bases, baseQuality, insertionQuality, deletionQuality, gapQuality }) {
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

/** Rows of the profile model. @param {PreparedRead} read @param {ProfileModel} model @returns {Float64Array} [bases][12] */
export function profileRows({ bases, baseQuality }, model) {
  const rows = new Float64Array(bases.length * ROW_SIZE);
  model.kinds(bases, baseQuality).forEach((kind, index) => {
    rows.set(model.rows.subarray(kind * ROW_SIZE, (kind + 1) * ROW_SIZE), index * ROW_SIZE);
  });
  return rows;
}
