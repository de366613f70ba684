// A variant: a position with its alleles (pairhmm/variants/variant.py).

/**
 * @typedef {object} Variant
 * @property {string} chrom
 * @property {number} pos first base of `ref`, 0-based
 * @property {string} ref upper case
 * @property {string[]} alts upper case
 * @property {string} id of its record; empty without one
 * @property {number} recordIndex index of its record in the file, from 0
 * @property {"asked" | "context" | "nuisance"} role why it is in a region: its genotype is written, it lies outside the
 *   regions that were asked for, or reads show it although it is not listed
 * @property {number} [joinedUntil] candidates before this position belong to its region: reads spell them together
 */

/** The position past the last base of `ref`. @param {Variant} variant */
export function endOf(variant) {
  return variant.pos + variant.ref.length;
}
