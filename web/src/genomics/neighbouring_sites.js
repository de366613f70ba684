// What the sites of a region say of each other: deletions over other sites (pairhmm/genomics/neighbouring_sites.py).

import { trimAllele } from "./regions.js";

/** @typedef {import("./variants.js").Variant} Variant */

/** The allele of a chromosome on which a deletion that begins further ahead takes a site away (VCF 4.3). */
const SPANNED = "*";

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
