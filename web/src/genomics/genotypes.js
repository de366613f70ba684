// From read x haplotype likelihoods to genotypes (cpu/calling/site_genotypes.cpp). The sums are that C++
// (genotypes.cpp). Every likelihood here is a log10.

import { sum } from "./arrays.js";
import { familyNumbers } from "./pedigree.js";

/** @typedef {import("./native.js").Native} Native */
/** @typedef {import("./pedigree.js").SampleFamily} SampleFamily */

/** The highest GQ (Phred) that is written. */
export const MAX_GQ = 99;
const MAX_QUAL = 1e6;
/** The most genotypes that a sample is tried with. */
export const MAX_GENOTYPES = 4096;

/**
 * @typedef {object} SampleGenotype
 * @property {number[] | null} alleles in ascending order; null without a read, and where all genotypes are
 *   equally likely
 * @property {number[]} depths informative reads of each allele (AD)
 * @property {number} depth reads used (DP), both mates of a pair counted
 * @property {number} quality Phred-scaled probability that the genotype is wrong (GQ)
 * @property {number[]} likelihoods Phred-scaled, in VCF order, the best 0 (PL); empty where alleles were left out
 * @property {number} log10Reference log10 posterior probability that all alleles are the reference
 * @property {number} ploidy
 * @property {number} leftOut alternative alleles that were not considered
 * @property {number[]} strands informative reads: of the reference forward and reverse, of other alleles (SB)
 * @property {number[] | null} phased alleles in the order of the haplotypes of the phase set; null without phase
 * @property {number[]} [withOthers] `likelihoods` with one allele more, which stands for all others; of a gVCF only
 * @property {number | null} phaseSet 0-based position of the first site of the phase set (PS)
 */

/**
 * What the reads over a site say of errors; NaN where that is not known.
 *
 * @typedef {object} SiteStatistics
 * @property {(InfoField & {value: number})[]} annotations those of `siteAnnotations`
 * @property {number} unfit the share of the reads over the site that fit no haplotype; 0 for one read alone
 */

/** @typedef {{id: string, decimals: number, description: string}} InfoField an INFO field of VCF */

/**
 * The INFO fields that the reads of a site give (cpu/calling/site_statistics.cpp).
 *
 * @param {Native} native
 * @returns {InfoField[]}
 */
export function siteAnnotations(native) {
  const pointer = native.call.site_annotations(); // may let the memory grow, which makes a new buffer
  const bytes = new Uint8Array(native.buffer, pointer);
  const lines = new TextDecoder()
    .decode(bytes.subarray(0, bytes.indexOf(0)))
    .trimEnd()
    .split("\n");
  return lines.map((line) => {
    const [id, decimals, description] = line.split("\t");
    return { id, decimals: Number(decimals), description };
  });
}

/** Number of genotypes of `alleles` alleles. @param {number} alleles @param {number} ploidy */
function countGenotypes(alleles, ploidy) {
  let count = 1;
  for (let i = 1; i <= ploidy; i++) count = (count * (alleles - 1 + i)) / i;
  return Math.round(count);
}

/**
 * All genotypes in VCF order (VCF 4.3, section 1.6.2), alleles in ascending order.
 *
 * @param {number} alleles
 * @param {number} ploidy
 * @returns {number[][]}
 */
function genotypeTable(alleles, ploidy) {
  /** @type {number[][]} */
  let table = [[]];
  for (let copies = 0; copies < ploidy; copies++) {
    /** @type {number[][]} */
    const longer = [];
    // The genotypes of the first alleles come before all others, so they are the first rows of a larger table.
    for (let last = 0; last < alleles; last++) {
      for (const head of table.slice(0, countGenotypes(last + 1, copies))) longer.push([...head, last]);
    }
    table = longer;
  }
  return table;
}

/**
 * Prior of each genotype, in VCF order: k copies of an alternative allele have theta / k, and the reference the rest.
 *
 * @param {number[]} allelePriors prior (theta) of each alternative allele
 * @param {number[][]} table
 */
function log10Priors(allelePriors, table) {
  const priors = table.map((genotype) =>
    allelePriors.reduce((product, theta, index) => {
      const copies = genotype.filter((allele) => allele === index + 1).length;
      return product * (copies ? theta / copies : 1);
    }, 1),
  );
  const others = priors.slice(1);
  priors[0] = Math.max(1 - sum(others), ...others, 0);
  const all = sum(priors);
  return Float64Array.from(priors, (prior) => Math.log10(prior / all));
}

/** Genotypes samples; it keeps the tables of genotypes. */
export class Genotyper {
  /** @param {Native} native @param {SampleFamily[]} [families] */
  constructor(native, families = []) {
    this.native = native;
    this.families = familyNumbers(families);
    /** @type {Map<string, {table: number[][], pointer: number}>} */
    this.known = new Map();
  }

  /**
   * The genotypes of all samples of a site, and its QUAL. Several samples share the frequencies of the alleles, and
   * families share alleles.
   *
   * @param {number} reads a SiteReads
   * @param {number[]} allelePriors
   * @param {number[]} ploidies those of the samples
   * @returns {{samples: SampleGenotype[], quality: number}}
   */
  callSite(reads, allelePriors, ploidies) {
    if (ploidies.length === 1 || countGenotypes(allelePriors.length + 1, Math.max(...ploidies)) > MAX_GENOTYPES) {
      const samples = ploidies.map((ploidy, sample) => this.call(reads, sample, allelePriors, ploidy));
      return { samples, quality: siteQuality(samples) };
    }
    const genotypes = ploidies.map((ploidy) => this.#genotypes(allelePriors, ploidy));
    const { native } = this;
    return native.with((arrays) => {
      const priors = arrays.room(8 * sum(genotypes.map(({ table }) => table.length)));
      const log10Reference = native.call.site_reads_share(
        reads,
        ploidies.length,
        arrays.pass(Uint32Array.from(genotypes, ({ pointer }) => pointer)),
        allelePriors.length,
        arrays.pass(Float64Array.from(allelePriors)),
        this.families.length,
        arrays.pass(this.families),
        priors,
      );
      let prior = priors;
      const samples = ploidies.map((ploidy, sample) => {
        const called = this.call(reads, sample, allelePriors, ploidy, prior);
        prior += 8 * genotypes[sample].table.length;
        return called;
      });
      return { samples, quality: qualityOf(log10Reference) };
    });
  }

  /**
   * The genotype of one sample at a site.
   *
   * @param {number} reads a SiteReads
   * @param {number} sample
   * @param {number[]} allelePriors
   * @param {number} ploidy
   * @param {number} [prior] where the priors of its genotypes are, in place of those by allele
   * @returns {SampleGenotype}
   */
  call(reads, sample, allelePriors, ploidy, prior = 0) {
    const alleles = allelePriors.length + 1;
    if (alleles > 2 && countGenotypes(alleles, ploidy) > MAX_GENOTYPES) {
      return this.#bestSupported(reads, sample, allelePriors, ploidy);
    }
    const { table, pointer } = this.#genotypes(allelePriors, ploidy);
    const { native } = this;
    return native.with((arrays) => {
      const [called, depths] = [arrays.room(24), arrays.room(4 * alleles)];
      const likelihoods = arrays.room(4 * table.length);
      native.call.site_reads_call(reads, sample, pointer, prior, called, depths, likelihoods);
      const view = new DataView(native.buffer, called, 24);
      const best = view.getInt32(8, true);
      return {
        alleles: best < 0 ? null : table[best],
        depths: [...arrays.read(Uint32Array, depths, alleles)],
        depth: view.getUint32(12, true),
        quality: view.getInt32(16, true),
        likelihoods: [...arrays.read(Uint32Array, likelihoods, table.length)],
        log10Reference: view.getFloat64(0, true),
        ploidy,
        leftOut: 0,
        strands: [0, 0, 0, 0],
        phased: null,
        phaseSet: null,
      };
    });
  }

  /** The same with the alternative alleles that most reads support. @param {number} reads @param {number} sample @param {number[]} allelePriors @param {number} ploidy @returns {SampleGenotype} */
  #bestSupported(reads, sample, allelePriors, ploidy) {
    const alleles = allelePriors.length + 1;
    const { native } = this;
    const depths = native.with((arrays) => {
      const pointer = arrays.room(4 * alleles);
      native.call.site_reads_depths(reads, sample, pointer);
      return [...arrays.read(Uint32Array, pointer, alleles)];
    });
    let most = 1;
    while (countGenotypes(most + 2, ploidy) <= MAX_GENOTYPES) most++;
    const bySupport = allelePriors.map((_, index) => index + 1).sort((a, b) => depths[b] - depths[a] || a - b);
    const kept = [0, ...bySupport.slice(0, most).sort((a, b) => a - b)];
    const priors = kept.slice(1).map((allele) => allelePriors[allele - 1]);
    const fewer = native.with((arrays) =>
      native.call.site_reads_with_alleles(reads, kept.length, arrays.pass(Uint32Array.from(kept))),
    );
    const found = this.call(fewer, sample, priors, ploidy);
    native.call.site_reads_free(fewer);
    const own = found.alleles && found.alleles.map((allele) => kept[allele]);
    return { ...found, alleles: own, depths, likelihoods: [], leftOut: allelePriors.length - most };
  }

  /** @param {number[]} allelePriors @param {number} ploidy */
  #genotypes(allelePriors, ploidy) {
    const key = `${ploidy}:${allelePriors.join()}`;
    let known = this.known.get(key);
    if (!known) {
      const table = ploidy === 0 ? [] : genotypeTable(allelePriors.length + 1, ploidy);
      const priors = ploidy === 0 ? new Float64Array(0) : log10Priors(allelePriors, table);
      const pointer = this.native.with((arrays) =>
        this.native.call.genotypes_make(
          allelePriors.length + 1,
          ploidy,
          table.length,
          arrays.pass(Int16Array.from(table.flat())),
          arrays.pass(priors),
        ),
      );
      known = { table, pointer };
      this.known.set(key, known);
    }
    return known;
  }
}

/** QUAL: -10 log10 of the probability that every sample, by itself, has only the reference allele. @param {SampleGenotype[]} samples */
function siteQuality(samples) {
  return qualityOf(sum(samples.filter((sample) => sample.alleles !== null).map((sample) => sample.log10Reference)));
}

/** @param {number} log10Reference */
function qualityOf(log10Reference) {
  return Math.min(MAX_QUAL, Math.max(0, -10 * log10Reference));
}

/**
 * The genotypes of one sample at the sites of a region, with their phase.
 *
 * @param {Native} native
 * @param {number[]} positions of each site, in order
 * @param {number[]} reads a SiteReads of each site
 * @param {SampleGenotype[]} genotypes the sample's at each site
 * @param {number} sample
 * @returns {SampleGenotype[]}
 */
export function phased(native, positions, reads, genotypes, sample) {
  const sites = genotypes.flatMap(({ alleles }, site) =>
    alleles?.length === 2 && alleles[0] !== alleles[1] ? [{ site, alleles }] : [],
  );
  if (sites.length < 2) return genotypes;
  const phaser = native.call.phaser_make();
  const places = sites.map(({ site, alleles }) => {
    const place = native.call.phaser_add(phaser, reads[site], sample, alleles[0], alleles[1]);
    return { site, alleles, set: place >> 1, swapped: (place & 1) === 1 };
  });
  native.call.phaser_free(phaser);
  const result = [...genotypes];
  /** @type {Map<number, number>} */
  const starts = new Map();
  for (const { site, alleles, set, swapped } of places) {
    if (places.filter((other) => other.set === set).length < 2) continue;
    const phaseSet = starts.get(set) ?? positions[site];
    starts.set(set, phaseSet);
    // PS is a position: of two sets that begin at one place, the second can't be told apart.
    if ([...starts].some(([other, start]) => other < set && start === phaseSet)) continue;
    result[site] = { ...result[site], phased: swapped ? [alleles[1], alleles[0]] : alleles, phaseSet };
  }
  return result;
}
