// What a run tells its caller. What is drawn of a region is read from the lines that the core makes of it.

/** @typedef {import("./core.js").PreparedRead} PreparedRead */
/** @typedef {import("./core.js").ScoredRegion} ScoredRegion */

/**
 * @typedef {object} Call the genotype of a sample
 * @property {string} genotype GT
 * @property {number[]} depths informative reads of each allele (AD)
 * @property {number} depth reads (DP)
 * @property {number | null} quality GQ; null where reads do not tell genotypes apart
 * @property {number[]} likelihoods PL; empty where they are not known
 * @property {string} phaseSet PS; empty without one
 */

/**
 * @typedef {object} CalledSite a record
 * @property {string} chrom
 * @property {number} pos 0-based
 * @property {string} id empty without one
 * @property {string} ref
 * @property {string[]} alts
 * @property {number} quality QUAL
 * @property {string} filter
 * @property {Call[]} calls in the order of the samples
 */

/**
 * @typedef {object} BeginEvent
 * @property {"begin"} kind
 * @property {string[]} samples
 * @property {[string, number][]} contigs names and lengths, in the order of the run
 * @property {string} reference name of its file
 * @property {string} model for headers of outputs
 * @property {number} pieces intervals that were asked for; 0 for everywhere
 */

/**
 * @typedef {object} RegionEvent
 * @property {"region"} kind
 * @property {{chrom: string, start: number, end: number}} region 0-based half-open
 * @property {{start: number, reference: string}} span what haplotypes span
 * @property {{pos: number, ref: string, alts: string[]}[]} variants 0-based
 * @property {{name: string, sequence: string, alleles: number[]}[]} haplotypes
 * @property {{sample: number, name: string, flag: number, mapq: number}[]} reads
 * @property {Float64Array} log10 [reads][haplotypes]
 * @property {Uint8Array} precision [reads][haplotypes]
 * @property {(read: number) => PreparedRead} prepared
 * @property {string | null} parameters a preset of the profile model; null for GATK's
 * @property {CalledSite[]} sites
 * @property {Lines} lines of the outputs
 */

/**
 * @typedef {object} Lines
 * @property {string} records of the VCF
 * @property {Uint8Array<ArrayBuffer>} likelihoods of the table, as bytes
 * @property {string} haplotypes of the table's companion
 */

/**
 * @typedef {{kind: "progress", done: number, of: number}} ProgressEvent
 * @typedef {{kind: "warning" | "note", text: string}} TextEvent
 * @typedef {{kind: "rest", records: string}} RestEvent the lines of the VCF behind the last record
 * @typedef {{kind: "end", counts: {regions: number, reads: number, setAside: number, pairs: number}}} EndEvent
 * @typedef {BeginEvent | RegionEvent | RestEvent | ProgressEvent | TextEvent | EndEvent} RunEvent
 */

/**
 * @param {ScoredRegion} scored
 * @param {(read: number) => PreparedRead} prepared
 * @param {string | null} parameters
 * @returns {RegionEvent}
 */
export function regionEvent(scored, prepared, parameters) {
  const { sample, flag, mapq, log10, precision, records, likelihoods } = scored;
  const names = scored.names.split("\n");
  const rows = scored.haplotypes.slice(0, -1).split("\n");
  const [chrom, start, end, first, reference, , variants] = rows[0].split("\t");
  return {
    kind: "region",
    region: { chrom, start: Number(start), end: Number(end) },
    span: { start: Number(/:(\d+)-\d+\/0$/.exec(first)?.[1]) - 1, reference },
    variants: variants === "." ? [] : variants.split(",").map(variantOf),
    haplotypes: rows.map((row) => {
      const [, , , name, sequence, alleles] = row.split("\t");
      return { name, sequence, alleles: alleles === "." ? [] : alleles.split(",").map(Number) };
    }),
    reads: Array.from(sample, (own, read) => ({ sample: own, name: names[read], flag: flag[read], mapq: mapq[read] })),
    log10,
    precision,
    prepared,
    parameters,
    sites: records.split("\n").flatMap(siteOf),
    lines: { records, likelihoods, haplotypes: scored.haplotypes },
  };
}

/** @param {string} text POS:REF>ALT/ALT */
function variantOf(text) {
  const [pos, ref, alts] = text.split(/[:>]/);
  return { pos: Number(pos) - 1, ref, alts: alts.split("/") };
}

/** The site of a record; none of a block of the reference. @param {string} line @returns {CalledSite[]} */
function siteOf(line) {
  const [chrom, pos, id, ref, alts, quality, filter, , format, ...samples] = line.split("\t");
  if (!format || quality === ".") return [];
  const keys = format.split(":");
  const calls = samples.map((column) => {
    const values = column.split(":");
    return callOf(Object.fromEntries(keys.map((key, index) => [key, values[index]])));
  });
  const place = { chrom, pos: Number(pos) - 1, id: id === "." ? "" : id };
  return [{ ...place, ref, alts: alts.split(","), quality: Number(quality), filter, calls }];
}

/** @param {Record<string, string>} values by the keys of FORMAT @returns {Call} */
function callOf({ GT, AD, DP, GQ, PL, PS = "." }) {
  return {
    genotype: GT,
    depths: AD.split(",").map(Number),
    depth: Number(DP),
    quality: GQ === "." ? null : Number(GQ),
    likelihoods: PL === "." ? [] : PL.split(",").map(Number),
    phaseSet: PS === "." ? "" : PS,
  };
}
