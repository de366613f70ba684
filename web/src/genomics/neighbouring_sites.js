// What the sites of a region say of each other: deletions over other sites, and neighbouring SNVs as one variant
// (cpu/calling/neighbouring_sites.cpp).

import { trimAllele } from "./regions.js";

/** @typedef {import("./variants.js").Variant} Variant */

/** The allele of a chromosome on which a deletion that begins further ahead takes a site away (VCF 4.3). */
export const SPANNED = "*";

/** The reference bases [start, end) that an alternative allele deletes. @param {Variant} variant @param {number} allele */
function deleted({ pos, ref, alts }, allele) {
  const [head, old, now] = trimAllele(ref, alts[allele - 1]);
  const start = pos + head;
  return { start, end: start + (now.length < old.length ? old.length : 0) };
}

/**
 * The haplotypes on which a called deletion takes a site away.
 *
 * @param {number} index of the site among the variants
 * @param {Variant[]} variants the sites of a region
 * @param {Set<number>[]} called the alternative alleles that samples have, of each site
 * @param {number[][]} alleles the allele of each site on each haplotype
 * @returns {Set<number>}
 */
export function spannedHaplotypes(index, variants, called, alleles) {
  const { pos } = variants[index];
  /** @type {Set<number>} */
  const found = new Set();
  called.forEach((own, other) => {
    for (const allele of other === index ? [] : own) {
      const { start, end } = deleted(variants[other], allele);
      if (pos < start || pos >= end) continue;
      alleles[other].forEach((carried, haplotype) => {
        if (carried === allele && alleles[index][haplotype] === 0) found.add(haplotype);
      });
    }
  });
  return found;
}

/**
 * A variant with the allele `*`, and the allele that each haplotype has of it.
 *
 * @param {Variant} variant
 * @param {number[]} alleleOf the allele of each haplotype without it
 * @param {Set<number>} haplotypes those that have it
 * @returns {{variant: Variant, alleleOf: number[]}}
 */
export function withSpanned(variant, alleleOf, haplotypes) {
  const alts = [...variant.alts, SPANNED];
  return {
    variant: { ...variant, alts },
    alleleOf: alleleOf.map((allele, haplotype) => (haplotypes.has(haplotype) ? alts.length : allele)),
  };
}

/**
 * The runs [first, last) of two SNVs or more at neighbouring positions, longer runs before the ones within them.
 *
 * @param {Variant[]} variants
 * @returns {[number, number][]}
 */
export function snvRuns(variants) {
  /** @type {[number, number][]} */
  const runs = [];
  for (let first = 0, last; first < variants.length; first = last) {
    last = first + 1;
    while (last < variants.length && areNeighbours(variants[last - 1], variants[last])) last++;
    for (let size = last - first; size > 1; size--) {
      for (let begin = first; begin + size <= last; begin++) runs.push([begin, begin + size]);
    }
  }
  return runs;
}

/** Whether two variants are SNVs at neighbouring positions. @param {Variant} one @param {Variant} other */
function areNeighbours(one, other) {
  return (
    other.pos === one.pos + 1 && [one.ref, other.ref, ...one.alts, ...other.alts].every((text) => text.length === 1)
  );
}

/** @param {number[]} one @param {number[]} other */
function byFirstDifference(one, other) {
  const at = one.findIndex((allele, index) => allele !== other[index]);
  return at < 0 ? 0 : one[at] - other[at];
}

/**
 * Neighbouring SNVs as one variant, whose alternative alleles are what the haplotypes have.
 *
 * @param {Variant[]} variants
 * @param {number[][]} alleles the allele of each SNV on each haplotype
 * @returns {{variant: Variant, alleleOf: number[], changed: Set<number>}} with the alleles that differ from the
 *   reference at every base
 */
export function joinedSnvs(variants, alleles) {
  const combos = alleles[0].map((_, haplotype) => alleles.map((own) => own[haplotype]));
  // A haplotype with an allele that was left out (-1) has none of the joined variant.
  const known = combos.filter((combo) => combo.some(Boolean) && combo.every((allele) => allele >= 0));
  const distinct = new Map(known.map((combo) => [combo.join(), combo]));
  const sorted = [...distinct.values()].sort(byFirstDifference);
  const numberOf = new Map(sorted.map((combo, index) => [combo.join(), index + 1]));
  const spelled = sorted.map((combo) =>
    combo.map((allele, i) => (allele ? variants[i].alts[allele - 1] : variants[i].ref)),
  );
  return {
    variant: {
      ...variants[0],
      ref: variants.map((one) => one.ref).join(""),
      alts: spelled.map((letters) => letters.join("")),
    },
    alleleOf: combos.map((combo) => numberOf.get(combo.join()) ?? (combo.some(Boolean) ? -1 : 0)),
    changed: new Set(sorted.flatMap((combo, index) => (combo.every(Boolean) ? [index + 1] : []))),
  };
}
