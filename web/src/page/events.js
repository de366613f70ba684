// What a run tells of (src/call/run.js), as types. Positions are 0-based.

/**
 * A variant of a region.
 *
 * @typedef {object} Variant
 * @property {number} pos
 * @property {string} ref
 * @property {string[]} alts
 */

/**
 * @typedef {object} Haplotype
 * @property {string} name
 * @property {string} sequence
 * @property {number[]} alleles one for each variant of the region
 */

/**
 * @typedef {object} RegionRead
 * @property {number} sample
 * @property {string} name
 * @property {0 | 1 | 2} mate 0 for a read without one
 * @property {boolean} isReverse
 * @property {number} mapq
 */

/**
 * The fields of a sample in a record.
 *
 * @typedef {object} SampleCall
 * @property {(number | null)[]} alleles as in GT
 * @property {number[]} depths AD
 * @property {number | null} depth DP
 * @property {number | null} quality GQ
 * @property {number[]} likelihoods PL
 */

/**
 * @typedef {object} SiteRecord
 * @property {string} chrom
 * @property {number} pos
 * @property {string} id
 * @property {string} ref
 * @property {string[]} alts
 * @property {number | null} quality QUAL
 * @property {string} filter
 * @property {SampleCall[]} calls
 */

/**
 * @typedef {object} RegionEvent
 * @property {"region"} kind
 * @property {{chrom: string, start: number, end: number}} region half-open
 * @property {{start: number, reference: string}} span what the haplotypes span
 * @property {Variant[]} variants
 * @property {Haplotype[]} haplotypes
 * @property {RegionRead[]} reads
 * @property {Float64Array} log10 reads x haplotypes
 * @property {Uint8Array} precision reads x haplotypes
 * @property {SiteRecord[]} sites
 */

/**
 * @typedef {object} BeginEvent
 * @property {"begin"} kind
 * @property {string[]} samples
 * @property {[string, number][]} contigs
 * @property {number} pieces
 */

/** @typedef {{kind: "progress", done: number, of: number}} ProgressEvent */
/** @typedef {{kind: "warning", text: string}} WarningEvent */
/** @typedef {{kind: "end", counts: Record<string, number>}} EndEvent */
/** @typedef {BeginEvent | RegionEvent | ProgressEvent | WarningEvent | EndEvent} RunEvent */

export {};
