// Genotypes a region's candidates from its evidence (cpu/calling/genotyping.cpp).

import { Genotyper, phased, siteAnnotations } from "../genomics/genotypes.js";
import { joinedSnvs, snvRuns, spannedHaplotypes, withSpanned } from "../genomics/neighbouring_sites.js";

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

/**
 * A site with what it was genotyped from.
 *
 * @typedef {object} Found
 * @property {number} index of its candidate in the region, the first one where several are joined
 * @property {Omit<Site, "statistics">} site
 * @property {number} reads a SiteReads
 * @property {number[]} alleleOf the allele of each haplotype
 * @property {[number, number]} extent
 */

// A difference in log10 that is larger than any between two likelihoods that can be told apart.
const NO_FLOOR = 300;

/** Genotypes the candidates of regions. */
export class RegionGenotyper {
  /**
   * @param {Native} native
   * @param {number} samples
   * @param {import("../genomics/pedigree.js").SampleFamily[]} families
   * @param {CallOptions} options
   * @param {boolean} discovered whether candidates and alleles that no sample has are left out
   */
  constructor(native, samples, families, options, discovered) {
    this.native = native;
    this.samples = samples;
    this.options = options;
    this.discovered = discovered;
    this.genotyper = new Genotyper(native, families);
    this.annotations = siteAnnotations(native);
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
      // Also what was not asked for: the phase of the others depends on it.
      let found = evidence.region.variants.flatMap((variant, index) =>
        variant.role === "nuisance" ? [] : (this.#written(evidence, scores, index) ?? []),
      );
      if (this.options.mnv) found = this.#withJoinedSnvs(scores, found);
      found = this.#withSpanned(scores, found);
      const candidates = evidence.region.variants.length;
      const sites = found.map((one) => this.#withStatistics(one, facts, candidates, unfitOver(evidence, one.extent)));
      if (this.options.gvcf) sites.forEach((site, number) => this.#addOthers(site, found[number].reads));
      const reads = found.map((one) => one.reads);
      const result = this.#phased(sites, reads);
      for (const own of reads) this.native.call.site_reads_free(own);
      return result.filter((site) => site.variant.role === "asked");
    });
  }

  /** A candidate that is written, with the alleles that are. @param {Evidence} evidence @param {number} scores @param {number} index @returns {Found | null} */
  #written(evidence, scores, index) {
    const variant = evidence.region.variants[index];
    const alleleOf = evidence.haplotypes.map((haplotype) => haplotype.alleles[index]);
    const found = this.#found(scores, index, variant, alleleOf, evidence.region.extents[index]);
    return this.discovered ? this.#withCalledAlleles(scores, found) : found;
  }

  /** A candidate with the alternative alleles that samples have; null without any. @param {number} scores @param {Found} found @returns {Found | null} */
  #withCalledAlleles(scores, found) {
    const { index, alleleOf, extent } = found;
    const { variant, leftOut } = found.site;
    const seen = called(found);
    if (seen.size === variant.alts.length) return found;
    this.native.call.site_reads_free(found.reads);
    if (!seen.size) return null;
    const kept = [...seen].sort((a, b) => a - b);
    const places = [0, ...kept];
    const own = alleleOf.map((allele) => places.indexOf(allele));
    const fewer = this.#found(scores, index, withAlleles(variant, kept), own, extent);
    return { ...fewer, site: { ...fewer.site, leftOut } };
  }

  /** Adds likelihoods of one allele more, which stands for all others. @param {Site} site @param {number} reads */
  #addOthers(site, reads) {
    const more = this.native.call.site_reads_with_non_reference(reads);
    const priors = new Array(site.variant.alts.length + 1).fill(this.options.snvPrior);
    site.samples = site.samples.map((one, sample) => {
      return { ...one, withOthers: this.genotyper.call(more, sample, priors, one.ploidy).likelihoods };
    });
    this.native.call.site_reads_free(more);
  }

  /** Candidates, with neighbouring SNVs as one where samples have all of them on the same chromosomes. @param {number} scores @param {Found[]} found */
  #withJoinedSnvs(scores, found) {
    /** @type {(Found | null)[]} */
    const result = [...found];
    const taken = new Set();
    for (const [first, last] of snvRuns(found.map((one) => one.site.variant))) {
      const own = found.slice(first, last);
      if (own.some((one) => taken.has(one))) continue;
      const joined = this.#joined(scores, own);
      if (!joined) continue;
      for (const one of own) {
        taken.add(one);
        this.native.call.site_reads_free(one.reads);
      }
      result.fill(null, first, last);
      result[first] = joined;
    }
    return result.filter((one) => one !== null);
  }

  /** Neighbouring SNVs as one candidate; null where a sample has one without the others. @param {number} scores @param {Found[]} found */
  #joined(scores, found) {
    const variants = found.map((one) => one.site.variant);
    const alleles = found.map((one) => one.alleleOf);
    const { variant, alleleOf, changed } = joinedSnvs(variants, alleles);
    const first = Math.min(...found.map((one) => one.extent[0]));
    const last = Math.max(...found.map((one) => one.extent[1]));
    const one = this.#found(scores, found[0].index, variant, alleleOf, [first, last]);
    if ([...called(one)].every((allele) => changed.has(allele))) return this.#withCalledAlleles(scores, one);
    this.native.call.site_reads_free(one.reads);
    return null;
  }

  /** Candidates, with the allele of chromosomes on which a deletion takes them away where a sample has it. Of a discovered candidate, every allele has to be one of a sample. @param {number} scores @param {Found[]} found */
  #withSpanned(scores, found) {
    const variants = found.map((one) => one.site.variant);
    const seen = found.map(called);
    const alleles = found.map((one) => one.alleleOf);
    return found.map((one, number) => {
      const haplotypes = spannedHaplotypes(number, variants, seen, alleles);
      if (!haplotypes.size) return one;
      const { variant, alleleOf } = withSpanned(one.site.variant, one.alleleOf, haplotypes);
      const more = this.#found(scores, one.index, variant, alleleOf, one.extent);
      // QUAL stays that of the alleles that are not deletions elsewhere.
      const carried = called(more);
      const isSeen = carried.has(variant.alts.length) && (!this.discovered || carried.size === variant.alts.length);
      this.native.call.site_reads_free(isSeen ? one.reads : more.reads);
      const { quality, leftOut } = one.site;
      return isSeen ? { ...more, site: { ...more.site, quality, leftOut } } : one;
    });
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
   * @param {Found} found
   * @param {{flag: number, mapq: number, fromEnd: number}} facts of the region's reads
   * @param {number} candidates
   * @param {number} unfit
   * @returns {Site}
   */
  #withStatistics({ index, site, reads }, { flag, mapq, fromEnd }, candidates, unfit) {
    const { native } = this;
    return native.with((arrays) => {
      const [values, strands] = [arrays.room(8 * this.annotations.length), arrays.room(16 * this.samples)];
      native.call.site_reads_statistics(reads, flag, mapq, fromEnd + 4 * index, candidates, values, strands);
      const known = arrays.read(Float64Array, values, this.annotations.length);
      const annotations = this.annotations.map((field, index) => ({ ...field, value: known[index] }));
      const counts = [...arrays.read(Uint32Array, strands, 4 * this.samples)];
      return {
        ...site,
        samples: site.samples.map((one, sample) => ({ ...one, strands: counts.slice(4 * sample, 4 * sample + 4) })),
        statistics: { annotations, unfit },
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
   * Genotypes a variant, of which each haplotype has an allele, or -1 for none.
   *
   * @param {number} scores
   * @param {number} index
   * @param {Variant} variant
   * @param {number[]} alleleOf
   * @param {[number, number]} extent
   * @returns {Found}
   */
  #found(scores, index, variant, alleleOf, extent) {
    const { options, native } = this;
    const priors = variant.alts.map((alt) =>
      alt.length === variant.ref.length ? options.snvPrior : options.indelPrior,
    );
    const [first, last] = extent;
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
    return { index, site: { variant, quality, samples, leftOut }, reads, alleleOf, extent };
  }
}

/** The share of the reads over a site that fit no haplotype, in thousandths. One read alone is none. @param {Evidence} evidence @param {[number, number]} extent */
function unfitOver({ reads, setAside, unfit = setAside }, [first, last]) {
  let [over, count] = [0, 0];
  unfit.forEach((own, read) => {
    if (reads.start[read] >= last || reads.end[read] <= first) return;
    over++;
    count += own;
  });
  return count > 1 ? Math.floor((2000 * count + over) / (2 * over)) / 1000 : 0;
}

/** The alternative alleles that samples have. @param {Found} found */
function called({ site }) {
  return new Set(site.samples.flatMap((sample) => sample.alleles ?? []).filter((allele) => allele > 0));
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
