// Row parameters of a read (pairhmm/models/profile.py): emissions beside A C G T N, then the transitions
// mm im dm mi ii md dd.

import { CODE_OF_N } from "../letters.js";
import { ERROR } from "./parameters.js";
import { asN } from "./gatk.js";

/** @typedef {import("../call/uncertain.js").PreparedRead} PreparedRead */
/** @typedef {import("./profile.js").ProfileModel} ProfileModel */

export const ROW_SIZE = 12;

/** Rows of GATK's model (pairhmm/models/gatk.py). @param {PreparedRead} read @returns {Float64Array} [bases][12] */
export function gatkRows({ bases, baseQuality, insertionQuality, deletionQuality, gapQuality }) {
  const rows = new Float64Array(bases.length * ROW_SIZE);
  asN(bases).forEach((base, index) => {
    const [error, insertion, deletion, gap] = [baseQuality, insertionQuality, deletionQuality, gapQuality].map(
      (quality) => ERROR[quality[index]],
    );
    const row = rows.subarray(index * ROW_SIZE);
    for (let letter = 0; letter < 5; letter++) {
      row[letter] = letter === base || letter === CODE_OF_N || base === CODE_OF_N ? 1 - error : error / 3;
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
