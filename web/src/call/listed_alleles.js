// The evidence of listed candidates, without what only decides which reads fit (on_listed_alleles of
// pairhmm/calling/genotyping.py).

import { withoutNuisances } from "./evidence.js";

/** @typedef {import("./evidence.js").Evidence} Evidence */

/** The share of a sample's reads over a listed site from which on the reads set aside are used all the same. */
const MANY_SET_ASIDE = 0.2;

/**
 * The evidence of a region of listed candidates on the haplotypes of listed alleles alone. Reads that fit no haplotype
 * are set aside as errors of mapping, unless they are many.
 *
 * @param {Evidence} evidence
 * @returns {Evidence}
 */
export function onListedAlleles(evidence) {
  return { ...withoutNuisances(evidence), setAside: fewSetAside(evidence), unfit: evidence.setAside };
}

/** The reads set aside, except those over a site where they are many of a sample's reads. @param {Evidence} evidence */
function fewSetAside({ region, reads, setAside }) {
  if (!setAside.includes(1)) return setAside;
  const kept = setAside.slice();
  region.variants.forEach((variant, index) => {
    if (variant.role === "nuisance") return;
    const [first, last] = region.extents[index];
    /** @type {Map<number, {covering: number, without: number}>} */
    const counts = new Map();
    /** @param {number} read */
    const isOver = (read) => reads.start[read] < last && reads.end[read] > first;
    setAside.forEach((aside, read) => {
      if (!isOver(read)) return;
      const count = counts.get(reads.sample[read]) ?? { covering: 0, without: 0 };
      count.covering++;
      count.without += aside;
      counts.set(reads.sample[read], count);
    });
    setAside.forEach((_, read) => {
      const count = isOver(read) ? counts.get(reads.sample[read]) : undefined;
      if (count && count.without >= MANY_SET_ASIDE * count.covering) kept[read] = 0;
    });
  });
  return kept;
}
