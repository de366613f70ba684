// The evidence of a region, whose reads are scored (pairhmm/calling/scored_region.py).

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
 * @property {import("./uncertain.js").UncertainRead[]} uncertain the reads that choose a haplotype by the least
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
