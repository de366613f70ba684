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
const STARTS = { match: { match: 1, deletion: 0 }, anywhere: { match: 0, deletion: 1 } };

/** In the order of a row of the recurrence. */
export const TRANSITIONS = /** @type {const} */ (["MM", "IM", "DM", "MI", "II", "MD", "DD"]);

/** Row 0: M[0,0], and D[0,0] as a multiple of 1/n. @param {ProfileParameters} parameters */
export function startOf({ start }) {
  return STARTS[start];
}

/** The rows of called bases, and what begins a read. */
export class ProfileModel {
  /** @param {ProfileParameters} parameters */
  constructor(parameters) {
    this.name = parameters.name;
    this.rows = distinctRows(parameters);
    const { match, deletion } = startOf(parameters);
    this.startMatch = match;
    this.startDeletion = deletion;
  }

  /** The row of each called base. @param {Uint8Array} bases codes @param {Uint8Array} baseQuality @returns {Uint16Array} */
  kinds(bases, baseQuality) {
    return Uint16Array.from(bases, (base, index) => base * QUALITIES + baseQuality[index]);
  }
}

/**
 * The row of each letter with each quality: emissions beside A C G T N, then the transitions mm im dm mi ii md dd, with the
 * insertion's emission in mi and ii.
 *
 * @param {ProfileParameters} parameters
 */
function distinctRows({ match, insertion, transitions }) {
  const rows = new Float64Array(SETS.length * QUALITIES * ROW_SIZE);
  const { MM, IM, DM, MI, II, MD, DD } = transitions;
  SETS.forEach((set, letter) => {
    for (let quality = 0; quality < QUALITIES; quality++) {
      const p = probabilities(set, ERROR[quality]);
      const row = rows.subarray((letter * QUALITIES + quality) * ROW_SIZE);
      for (let h = 0; h < 5; h++) row[h] = p.reduce((sum, own, a) => sum + match[a][h] * own, 0);
      const inserted = p.reduce((sum, own, a) => sum + insertion[a] * own, 0);
      row.set([MM, IM, DM, MI * inserted, II * inserted, MD, DD], 5);
    }
  });
  return rows;
}

/** Probabilities of A C G T for a letter that stands for a set of bases, and then has the error of a call. @param {number} set @param {number} error */
function probabilities(set, error) {
  const bits = [0, 1, 2, 3].map((bit) => (set >> bit) & 1);
  const count = bits.reduce((sum, bit) => sum + bit, 0);
  return bits.map((bit) => {
    const share = bit / count;
    return share * (1 - error) + ((1 - share) * error) / 3;
  });
}

/** Probabilities of A C G T of each letter with each quality, end to end. */
export function callProbabilities() {
  return SETS.flatMap((set) =>
    Array.from({ length: QUALITIES }, (_, quality) => probabilities(set, ERROR[quality])).flat(),
  );
}
