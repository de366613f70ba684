// The profile model of called bases: a read is a matrix of probabilities of A C G T (pairhmm/models/profile.py).

import { ERROR } from "./parameters.js";

/**
 * @typedef {object} ProfileParameters
 * @property {string} name
 * @property {number[][]} match for A C G T of the read: its emission beside A C G T N of the haplotype
 * @property {number[]} insertion emission of each inserted letter
 * @property {Record<"MM" | "MI" | "MD" | "IM" | "II" | "DM" | "DD", number>} transitions
 * @property {"match" | "anywhere"} start
 */

/** The bases that each letter of a read, ACGTNRYSWKMBDHV, stands for: A C G T are 1 2 4 8. */
const SETS = [1, 2, 4, 8, 15, 5, 10, 6, 9, 12, 3, 14, 13, 11, 7];
const QUALITIES = 128;
const ROW_SIZE = 12;

/** Row 0: M[0,0], and D[0,0] as a multiple of 1/n. */
export const STARTS = { match: { startMatch: 1, startDeletion: 0 }, anywhere: { startMatch: 0, startDeletion: 1 } };

/** The transitions in the order of a row of the recurrence. @param {ProfileParameters} parameters */
export function transitionsOf({ transitions: { MM, IM, DM, MI, II, MD, DD } }) {
  return [MM, IM, DM, MI, II, MD, DD];
}

/** The row of each called base. @param {Uint8Array} bases codes @param {Uint8Array} baseQuality */
export function kindsOf(bases, baseQuality) {
  return Uint16Array.from(bases, (base, index) => base * QUALITIES + baseQuality[index]);
}

/** The row of each letter with each quality: emissions beside A C G T N, then the transitions, with the insertion's emission in mi and ii. @param {ProfileParameters} parameters */
export function distinctRows(parameters) {
  const [mm, im, dm, mi, ii, md, dd] = transitionsOf(parameters);
  const calls = callProbabilities();
  const rows = new Float64Array(calls.length * ROW_SIZE);
  calls.forEach((call, number) => {
    const row = rows.subarray(number * ROW_SIZE);
    for (let h = 0; h < 5; h++) row[h] = call.reduce((sum, own, a) => sum + parameters.match[a][h] * own, 0);
    const inserted = call.reduce((sum, own, a) => sum + parameters.insertion[a] * own, 0);
    row.set([mm, im, dm, mi * inserted, ii * inserted, md, dd], 5);
  });
  return rows;
}

/** Probabilities of A C G T of each letter with each quality: it stands for a set of bases, and then has the error of a call. */
export function callProbabilities() {
  return SETS.flatMap((set) => {
    const bits = [0, 1, 2, 3].map((bit) => (set >> bit) & 1);
    const shares = bits.map((bit) => bit / bits.reduce((sum, one) => sum + one));
    return Array.from(ERROR.subarray(0, QUALITIES), (error) =>
      shares.map((share) => share * (1 - error) + ((1 - share) * error) / 3),
    );
  });
}
