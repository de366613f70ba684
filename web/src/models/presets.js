// The built-in parameters of the profile model (pairhmm/models/presets). tests/web/test_models.py compares them.

/**
 * @typedef {object} ProfileParameters
 * @property {string} name
 * @property {number[][]} match for A C G T of the read: its emission beside A C G T N of the haplotype
 * @property {number[]} insertion emission of each inserted letter
 * @property {Record<"MM" | "MI" | "MD" | "IM" | "II" | "DM" | "DD", number>} transitions
 * @property {"match" | "anywhere"} start
 */

const ERROR = 0.000333333333333333;
const RIGHT = 0.999;

/** @type {Readonly<Record<"normalised" | "published", ProfileParameters>>} */
export const PRESETS = {
  normalised: {
    name: "normalised",
    match: [
      [RIGHT, ERROR, ERROR, ERROR, 0.25],
      [ERROR, RIGHT, ERROR, ERROR, 0.25],
      [ERROR, ERROR, RIGHT, ERROR, 0.25],
      [ERROR, ERROR, ERROR, RIGHT, 0.25],
    ],
    insertion: [0.25, 0.25, 0.25, 0.25],
    transitions: {
      MM: 0.99993675444679663,
      MI: 0.000031622776601683795,
      MD: 0.000031622776601683795,
      IM: 0.9,
      II: 0.1,
      DM: 0.9,
      DD: 0.1,
    },
    start: "match",
  },
  published: {
    name: "published",
    match: [
      [0.9, 1, 1, 1, 1],
      [1, 0.8, 1, 1, 1],
      [1, 1, 0.9, 1, 1],
      [1, 1, 1, 0.7, 1],
    ],
    insertion: [0.1, 0.1, 0.1, 0.1],
    transitions: { MM: 0.9, MI: 0.1, MD: 0, IM: 0.1, II: 0.8, DM: 0.1, DD: 0.9 },
    start: "anywhere",
  },
};
