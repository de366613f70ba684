// What a run tells its caller: plain data, which a worker can post.

import { MAX_GQ } from "../genomics/genotypes.js";
import { SPANNED } from "../genomics/neighbouring_sites.js";
import { mateOf } from "../genomics/names.js";

/** @typedef {import("../files/intervals.js").Interval} Interval */
/** @typedef {import("../genomics/genotypes.js").SampleGenotype} SampleGenotype */
/** @typedef {import("../genomics/reference_confidence.js").ReferenceBlock} ReferenceBlock */
/** @typedef {import("./evidence.js").Evidence} Evidence */
/** @typedef {import("./genotyping.js").Site} Site */

/**
 * @typedef {object} Call the genotype of a sample
 * @property {(number | null)[]} alleles null where reads do not tell genotypes apart
 * @property {number[]} depths informative reads of each allele (AD)
 * @property {number} depth reads (DP)
 * @property {number} quality GQ
 * @property {number[]} likelihoods PL; empty where alleles were left out
 * @property {number[]} [withOthers] PL with the allele <NON_REF>; of a gVCF only
 * @property {number[]} strands informative reads of the reference and of other alleles, on both strands (SB)
 * @property {number[] | null} phased alleles in the order of haplotypes; null without phase
 * @property {number | null} phaseSet 0-based position of its phase set (PS)
 */

/**
 * @typedef {object} CalledSite a record
 * @property {string} chrom
 * @property {number} pos 0-based
 * @property {string} id empty without one
 * @property {string} ref
 * @property {string[]} alts
 * @property {number} quality QUAL
 * @property {"PASS" | "LowQual"} filter
 * @property {Call[]} calls in the order of the samples
 * @property {import("../genomics/genotypes.js").SiteStatistics} statistics for INFO
 * @property {ReferenceBlock[]} before the blocks before the record; of a gVCF only
 */

/**
 * @typedef {object} BeginEvent
 * @property {"begin"} kind
 * @property {string[]} samples
 * @property {[string, number][]} contigs names and lengths, in the order of the run
 * @property {string} reference name of its file
 * @property {string} model for headers of outputs
 * @property {import("../genomics/genotypes.js").InfoField[]} annotations of INFO, for the header of the VCF
 * @property {number} pieces intervals that were asked for; 0 for everywhere
 */

/**
 * @typedef {object} RegionEvent
 * @property {"region"} kind
 * @property {{chrom: string, start: number, end: number}} region 0-based half-open
 * @property {{start: number, reference: string}} span what haplotypes span
 * @property {{pos: number, ref: string, alts: string[]}[]} variants 0-based
 * @property {{name: string, sequence: string, alleles: number[], nuisance: boolean}[]} haplotypes
 * @property {{sample: number, name: string, mate: 0 | 1 | 2, isReverse: boolean, mapq: number, setAside: boolean}[]} reads
 * @property {Float64Array} log10 [reads][haplotypes]
 * @property {Uint8Array} precision [reads][haplotypes]
 * @property {import("./evidence.js").UncertainRead[]} uncertain the reads that choose a haplotype by the least
 * @property {string | null} parameters a preset of the profile model; null for GATK's
 * @property {CalledSite[]} sites
 */

/**
 * @typedef {{kind: "progress", done: number, of: number}} ProgressEvent
 * @typedef {{kind: "warning" | "note", text: string}} TextEvent
 * @typedef {{kind: "blocks", blocks: ReferenceBlock[]}} BlocksEvent the blocks behind the last record of a gVCF
 * @typedef {{kind: "end", counts: {regions: number, reads: number, setAside: number, pairs: number}}} EndEvent
 * @typedef {BeginEvent | RegionEvent | BlocksEvent | ProgressEvent | TextEvent | EndEvent} RunEvent
 */

const REVERSE = 0x10;

/**
 * A scored region, with the reads that genotypes left out.
 *
 * @param {Evidence} evidence
 * @param {string} reference bases that haplotypes span
 * @param {Uint8Array} setAside
 * @param {CalledSite[]} sites
 * @param {string | null} parameters
 * @returns {RegionEvent}
 */
export function regionEvent(evidence, reference, setAside, sites, parameters) {
  const { region, haplotypes, reads, log10, precision, uncertain } = evidence;
  const { chrom, start, end, haplotypeStart, haplotypeEnd } = region;
  const place = `${chrom}:${haplotypeStart + 1}-${haplotypeEnd}`;
  return {
    kind: "region",
    region: { chrom, start, end },
    span: { start: haplotypeStart, reference },
    variants: region.variants.map(({ pos, ref, alts }) => ({ pos, ref, alts })),
    haplotypes: haplotypes.map(({ sequence, alleles, isNuisance }, index) => {
      return { name: `${place}/${index}`, sequence, alleles, nuisance: isNuisance };
    }),
    reads: Array.from(reads.flag, (flag, read) => ({
      sample: reads.sample[read],
      name: reads.names.at(read),
      mate: mateOf(flag),
      isReverse: (flag & REVERSE) !== 0,
      mapq: reads.mapq[read],
      setAside: setAside[read] === 1,
    })),
    log10: log10.slice(),
    precision: precision.slice(),
    uncertain,
    parameters,
    sites,
  };
}

/** @param {Site} site @param {number} minQual @returns {CalledSite} */
export function calledSite({ variant, quality, samples, statistics }, minQual) {
  const { chrom, pos, id, ref, alts } = variant;
  const calls = samples.map(({ alleles, depths, depth, quality: own, likelihoods, ploidy, ...rest }) => {
    const { strands, phased, phaseSet, withOthers } = rest;
    const known = alleles ?? new Array(Math.max(1, ploidy)).fill(null);
    return { alleles: known, depths, depth, quality: own, likelihoods, withOthers, strands, phased, phaseSet };
  });
  return {
    chrom,
    pos,
    id,
    ref,
    alts,
    quality,
    filter: filterOf(variant, quality, samples, minQual),
    calls,
    statistics,
    before: [],
  };
}

/** QUAL decides for a variant; the lowest GQ where no genotype has an allele of the site. @param {{alts: string[]}} variant @param {number} quality @param {SampleGenotype[]} samples @param {number} minQual */
function filterOf({ alts }, quality, samples, minQual) {
  const called = samples.filter((sample) => sample.alleles !== null);
  const carried = called.flatMap((sample) => sample.alleles ?? []);
  const isReference = called.length > 0 && carried.every((allele) => !allele || alts[allele - 1] === SPANNED);
  const isSure = isReference
    ? Math.min(...called.map((sample) => sample.quality)) >= Math.min(minQual, MAX_GQ)
    : quality >= minQual;
  return isSure ? "PASS" : "LowQual";
}
