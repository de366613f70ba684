// All options of a run. Names and defaults are those of the command line (pairhmm/calling/run_options.py).

import { OPTIONS, READ_PRESETS } from "../models/parameters.js";

/** @typedef {import("../files/alignment_parser.js").ReadSelection} ReadSelection */
/** @typedef {import("../genomics/discovery.js").CandidateOptions} CandidateOptions */
/** @typedef {import("../genomics/regions.js").RegionOptions} RegionOptions */
/** @typedef {import("../models/gatk.js").GatkOptions} GatkOptions */

/**
 * @typedef {object} OtherOptions
 * @property {"gatk" | "profile"} model
 * @property {"normalised" | "published"} parameters of the profile model
 * @property {"illumina" | "hifi" | "ont"} preset the kind of reads: values that stand for those that are not given
 * @property {"pcr-free" | "pcr" | null} strModel a built-in STR model of gap qualities. A file takes its place
 * @property {boolean} listedOnly genotype the listed variants, where there is a list (as -v); else those that reads show
 * @property {number} maxHaplotypes the most haplotypes of a region
 * @property {number} maxDepth the most reads of a sample in a region; their names decide which ones are kept
 * @property {number} maxCells cells that are scored in one call, about; it changes no result
 * @property {number} chunkSize reads that are held at once, about; it changes no result
 * @property {number} ploidy
 * @property {number} snvPrior probability that a site differs from the reference in one chromosome pair
 * @property {number} indelPrior
 * @property {boolean} gvcf whether blocks of the reference lie between the records of one sample, where variants are
 *   found in the reads
 * @property {boolean} mnv whether SNVs of neighbouring bases that samples have on the same chromosomes are one record,
 *   where variants are found in the reads
 * @property {number} minQual QUAL (Phred) below which a record's filter is LowQual
 */

/** @typedef {ReadSelection & CandidateOptions & RegionOptions & GatkOptions & OtherOptions} CallOptions */

/** @type {Readonly<CallOptions>} */
export const CALL_OPTIONS = {
  ...OPTIONS,
  model: "gatk",
  parameters: "normalised",
  preset: "illumina",
  listedOnly: true,
  maxCells: 50_000_000, // a page has less memory
  gvcf: false,
  mnv: false,
};

/** All options of a run, from those that are given. @param {Partial<CallOptions>} given @returns {CallOptions} */
export function chosenOptions(given) {
  return { ...CALL_OPTIONS, ...READ_PRESETS[given.preset ?? CALL_OPTIONS.preset], ...given };
}
