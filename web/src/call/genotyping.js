// Genotypes a region's candidates from its evidence (pairhmm/evidence/genotyping.py).

import { Genotyper } from "../genomics/genotypes.js";
import { phased } from "../genomics/phasing.js";
import { withoutNuisances } from "./evidence.js";

/** @typedef {import("../genomics/genotypes.js").SampleGenotype} SampleGenotype */
/** @typedef {import("../genomics/genotypes.js").SiteStatistics} SiteStatistics */
/** @typedef {import("../genomics/native.js").Arrays} Arrays */
/** @typedef {import("../genomics/native.js").Native} Native */
/** @typedef {import("../genomics/variants.js").Variant} Variant */
/** @typedef {import("./evidence.js").Evidence} Evidence */
/** @typedef {import("./options.js").CallOptions} CallOptions */

/**
 * A genotyped candidate.
 *
 * @typedef {object} Site
 * @property {Variant} variant
 * @property {number} quality QUAL, Phred
 * @property {SampleGenotype[]} samples in the order of the run's samples
 * @property {number} leftOut alternative alleles that were not considered in some sample
 * @property {SiteStatistics} statistics what its reads say of errors
 */

/** A site before its statistics, and its SiteReads. @typedef {Omit<Site, "statistics"> & {reads: number}} Found */

/** The share of a sample's reads over a listed site from which on the reads set aside are used all the same. */
const MANY_SET_ASIDE = 0.2;
// A difference in log10 that is larger than any between two likelihoods that can be told apart.
const NO_FLOOR = 300;

/**
 * The evidence of a region of listed candidates on the haplotypes of listed alleles alone. Reads that fit no haplotype
 * are set aside as errors of mapping, unless they are many.
 *
 * @param {Evidence} evidence
 * @returns {Evidence}
 */
export function onListedAlleles(evidence) {
  return { ...withoutNuisances(evidence), setAside: fewSetAside(evidence) };
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

/** Genotypes the candidates of regions. */
export class RegionGenotyper {
  /** @param {Native} native @param {number} samples @param {CallOptions} options @param {boolean} discovered whether candidates and alleles that no sample has are left out */
  constructor(native, samples, options, discovered) {
    this.native = native;
    this.samples = samples;
    this.options = options;
    this.discovered = discovered;
    this.genotyper = new Genotyper(native);
  }

  /** The candidates of a region whose genotypes are asked for. @param {Evidence} evidence @returns {Site[]} */
  sites(evidence) {
    return this.native.with((arrays) => {
      const scores = this.#passed(evidence, arrays);
      const facts = {
        flag: arrays.pass(evidence.reads.flag),
        mapq: arrays.pass(evidence.reads.mapq),
        fromEnd: arrays.pass(evidence.fromEnd),
      };
      /** @type {Site[]} */
      const sites = [];
      /** @type {number[]} */
      const reads = [];
      evidence.region.variants.forEach((variant, index) => {
        if (variant.role === "nuisance") return;
        // Also what was not asked for: the phase of the others depends on it.
        const found = this.#written(evidence, scores, index);
        if (!found) return;
        const { reads: own, ...site } = found;
        reads.push(own);
        sites.push(this.#withStatistics(site, own, facts, index, evidence.region.variants.length));
      });
      const result = this.#phased(sites, reads);
      for (const own of reads) this.native.call.site_reads_free(own);
      return result.filter((site) => site.variant.role === "asked");
    });
  }

  /** A candidate that is written, with the alleles that are. @param {Evidence} evidence @param {number} scores @param {number} index @returns {Found | null} */
  #written(evidence, scores, index) {
    const site = this.#site(evidence, scores, index, null);
    if (!this.discovered) return site;
    const seen = new Set(site.samples.flatMap((sample) => sample.alleles ?? []).filter((allele) => allele > 0));
    if (seen.size === evidence.region.variants[index].alts.length) return site;
    this.native.call.site_reads_free(site.reads);
    if (!seen.size) return null;
    const kept = [...seen].sort((a, b) => a - b);
    return { ...this.#site(evidence, scores, index, kept), leftOut: site.leftOut };
  }

  /** @param {Site[]} sites @param {number[]} reads */
  #phased(sites, reads) {
    const positions = sites.map((site) => site.variant.pos);
    const bySample = Array.from({ length: this.samples }, (_, sample) =>
      phased(
        this.native,
        positions,
        reads,
        sites.map((site) => site.samples[sample]),
        sample,
      ),
    );
    return sites.map((site, index) => ({ ...site, samples: bySample.map((own) => own[index]) }));
  }

  /**
   * @param {Omit<Site, "statistics">} site
   * @param {number} reads
   * @param {{flag: number, mapq: number, fromEnd: number}} facts of the region's reads
   * @param {number} index
   * @param {number} candidates
   * @returns {Site}
   */
  #withStatistics(site, reads, { flag, mapq, fromEnd }, index, candidates) {
    const { native } = this;
    return native.with((arrays) => {
      const [values, strands] = [arrays.room(40), arrays.room(16 * this.samples)];
      native.call.site_reads_statistics(reads, flag, mapq, fromEnd + 4 * index, candidates, values, strands);
      const [fisherStrand, strandOdds, mappingQuality, mappingRank, positionRank] = arrays.read(
        Float64Array,
        values,
        5,
      );
      const counts = [...arrays.read(Uint32Array, strands, 4 * this.samples)];
      return {
        ...site,
        samples: site.samples.map((one, sample) => ({ ...one, strands: counts.slice(4 * sample, 4 * sample + 4) })),
        statistics: { fisherStrand, strandOdds, mappingQuality, mappingRank, positionRank },
      };
    });
  }

  /** A GivenScores (cpu/wasm/genotypes.cpp). @param {Evidence} evidence @param {Arrays} arrays */
  #passed({ reads, haplotypes, log10, setAside }, arrays) {
    const count = reads.start.length;
    const fragment = arrays.room(4 * count);
    this.native.call.number_names(
      arrays.pass(reads.names.text),
      count,
      arrays.pass(reads.names.offset.subarray(1)),
      fragment,
    );
    return arrays.struct([
      count,
      haplotypes.length,
      arrays.pass(log10),
      arrays.pass(setAside),
      arrays.pass(reads.start),
      arrays.pass(reads.end),
      arrays.pass(reads.sample),
      fragment,
    ]);
  }

  /**
   * Genotypes a candidate, with all or only some of its alternative alleles.
   *
   * @param {Evidence} evidence
   * @param {number} scores
   * @param {number} index
   * @param {number[] | null} kept
   * @returns {Found}
   */
  #site({ region, haplotypes }, scores, index, kept) {
    const { options, native } = this;
    let variant = region.variants[index];
    let alleleOf = haplotypes.map((haplotype) => haplotype.alleles[index]);
    if (kept) {
      const places = [0, ...kept];
      variant = withAlleles(variant, kept);
      alleleOf = alleleOf.map((allele) => places.indexOf(allele));
    }
    const priors = variant.alts.map((alt) =>
      alt.length === variant.ref.length ? options.snvPrior : options.indelPrior,
    );
    const [first, last] = region.extents[index];
    const reads = native.with((arrays) =>
      native.call.site_reads_make(
        scores,
        first,
        last,
        arrays.pass(Int32Array.from(alleleOf)),
        priors.length + 1,
        this.samples,
        options.scoreFloor ?? Infinity,
        options.scoreFloor ?? NO_FLOOR,
      ),
    );
    const ploidies = new Array(this.samples).fill(options.ploidy);
    const { samples, quality } = this.genotyper.callSite(reads, priors, ploidies);
    const leftOut = Math.max(...samples.map((sample) => sample.leftOut));
    return { variant, quality, samples, leftOut, reads };
  }
}

/** The variant with only some of its alternative alleles, and with no more reference bases than these need. @param {Variant} variant @param {number[]} kept @returns {Variant} */
function withAlleles(variant, kept) {
  let { ref } = variant;
  let alts = kept.map((allele) => variant.alts[allele - 1]);
  while (ref.length > 1 && alts.every((alt) => alt.length > 1 && alt.at(-1) === ref.at(-1))) {
    ref = ref.slice(0, -1);
    alts = alts.map((alt) => alt.slice(0, -1));
  }
  return { ...variant, ref, alts };
}
