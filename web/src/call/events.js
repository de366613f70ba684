// What a run tells its caller.

/**
 * @typedef {object} BeginEvent
 * @property {"begin"} kind
 * @property {string[]} samples
 * @property {[string, number][]} contigs names and lengths, in the order of the run
 * @property {string} reference name of its file
 * @property {string} model for headers of outputs
 */

/**
 * @typedef {object} OfRegion
 * @property {"region"} kind
 * @property {(read: number) => import("./core.js").PreparedRead} prepared
 * @property {string | null} parameters a preset of the profile model; null for GATK's
 */

/** @typedef {OfRegion & import("./core.js").ScoredRegion} RegionEvent its reads, scores [reads][haplotypes] and lines of the outputs */

/**
 * @typedef {{kind: "progress", done: number, of: number}} ProgressEvent
 * @typedef {{kind: "warning" | "note", text: string}} TextEvent
 * @typedef {{kind: "rest", records: string}} RestEvent the lines of the VCF behind the last record
 * @typedef {{kind: "end", counts: {regions: number, reads: number, setAside: number, pairs: number}}} EndEvent
 * @typedef {BeginEvent | RegionEvent | RestEvent | ProgressEvent | TextEvent | EndEvent} RunEvent
 */
