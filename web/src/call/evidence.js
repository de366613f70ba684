// The evidence of a region, whose reads are scored (cpu/calling/scored_region.cpp).

import { choiceOf, twoBest } from "../genomics/haplotypes.js";

/** @typedef {import("../genomics/haplotypes.js").Haplotype} Haplotype */
/** @typedef {import("../genomics/names.js").Names} Names */
/** @typedef {import("../genomics/regions.js").Region} Region */

/**
 * @typedef {object} ScoredReads
 * @property {Names} names
 * @property {Int32Array} sample index into the run's samples
 * @property {Uint16Array} flag SAM flags
 * @property {Uint8Array} mapq
 * @property {Int32Array} start where each read is aligned, 0-based half-open
 * @property {Int32Array} end
 * @property {Uint32Array} length bases of each read before it was cut
 */

/**
 * A region with its haplotypes, its reads, and the likelihood of each read given each haplotype.
 *
 * @typedef {object} Evidence
 * @property {Region} region
 * @property {Haplotype[]} haplotypes the reference first
 * @property {ScoredReads} reads
 * @property {Int32Array} fromEnd bases between a candidate and the nearer end of a read, or -1: [reads][candidates]
 * @property {Float64Array} log10 log10 P(read | haplotype): [reads][haplotypes]
 * @property {Uint8Array} precision the arithmetic of each score
 * @property {import("./evidence.js").UncertainRead[]} uncertain the reads that choose a haplotype by the least
 * @property {Uint8Array} setAside 1 for reads that fit none of the haplotypes; genotypes are made without them
 * @property {Uint8Array} [unfit] 1 for reads that fit none of the haplotypes, where genotypes use some all the same
 */

/** The evidence without the haplotypes of nuisances. The reads that are set aside stay the same. @param {Evidence} evidence @returns {Evidence} */
export function withoutNuisances(evidence) {
  const { region, haplotypes, fromEnd, log10, precision } = evidence;
  const columns = region.variants.flatMap((variant, number) => (variant.role === "nuisance" ? [] : [number]));
  if (columns.length === region.variants.length) return evidence;
  const kept = haplotypes.flatMap((haplotype, number) => (haplotype.isNuisance ? [] : [number]));
  const width = haplotypes.length;
  /** @param {number} index of a pair among those that are kept */
  const from = (index) => Math.floor(index / kept.length) * width + kept[index % kept.length];
  const candidates = region.variants.length;
  const places = (fromEnd.length / candidates) * columns.length;
  const pairs = (log10.length / width) * kept.length;
  return {
    ...evidence,
    region: {
      ...region,
      variants: columns.map((number) => region.variants[number]),
      extents: columns.map((number) => region.extents[number]),
    },
    haplotypes: kept.map((number) => {
      const haplotype = haplotypes[number];
      return { ...haplotype, alleles: columns.map((column) => haplotype.alleles[column]) };
    }),
    fromEnd: Int32Array.from(
      { length: places },
      (_, index) => fromEnd[Math.floor(index / columns.length) * candidates + columns[index % columns.length]],
    ),
    log10: Float64Array.from({ length: pairs }, (_, index) => log10[from(index)]),
    precision: Uint8Array.from({ length: pairs }, (_, index) => precision[from(index)]),
  };
}

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

const READS = 4; // of a sample in a region

/**
 * A read cut to its region, with what the model takes of it.
 *
 * @typedef {object} PreparedRead
 * @property {Uint8Array} bases codes
 * @property {Uint8Array} quality Phred, as sequenced
 * @property {Uint8Array} baseQuality Phred, prepared
 * @property {Uint8Array} insertionQuality empty for the profile model
 * @property {Uint8Array} deletionQuality
 * @property {Uint8Array} gapQuality
 */

/** @typedef {PreparedRead & {read: number, best: number, second: number}} UncertainRead a read's index, and its two likeliest haplotypes */

/**
 * @param {Float64Array} log10 [reads][haplotypes]
 * @param {number} width
 * @param {ArrayLike<number>} samples of the reads
 * @param {(read: number) => PreparedRead} prepared
 * @returns {UncertainRead[]}
 */
export function uncertainReads(log10, width, samples, prepared) {
  if (width < 2) return [];
  const scores = (/** @type {number} */ read) => log10.subarray(read * width, (read + 1) * width);
  const choices = Array.from(samples, (_, read) => choiceOf(scores(read), read)).filter((one) => one.decided);
  choices.sort((a, b) => a.margin - b.margin || a.read - b.read);
  /** @type {Map<number, number>} */
  const taken = new Map();
  const least = choices.filter(({ read }) => {
    const before = taken.get(samples[read]) ?? 0;
    taken.set(samples[read], before + 1);
    return before < READS;
  });
  return least.map(({ read }) => {
    const [best, second] = twoBest(scores(read));
    return { read, best, second, ...prepared(read) };
  });
}
