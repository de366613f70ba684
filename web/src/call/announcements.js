// Messages at the end of a run: which reads it left out, and what helps (pairhmm/calling/summary.py).

import { LONG_READS, MANY_NAMESAKES, MANY_UNFIT, MAX_GENOTYPES, MOST } from "../models/parameters.js";

/** @import { CallOptions } from "./options.js" */

/** Those of the core, by name (`counts_text` in cpu/wasm/run_exports.cpp). @typedef {Record<string, any>} Counts */

/** So many things (pairhmm/plurals.py). @param {number} number @param {string} one @param {string} several */
const counted = (number, one, several = `${one}s`) => `${number} ${number === 1 ? one : several}`;

/** What is worth knowing, once all regions are counted. @param {Counts} counts */
export function notes({ reads, tagged }) {
  const used = `tags BI and BD of ${tagged} of ${reads} reads are used as gap-open qualities`;
  return tagged ? [`${used} (--no-indel-tags leaves them)`] : [];
}

/**
 * The warnings, once all regions are counted.
 *
 * @param {Counts} counts
 * @param {CallOptions} options
 * @param {string[]} samples
 * @param {boolean} discovered whether candidates are found in reads
 */
export function warnings(counts, options, samples, discovered) {
  const { highestQuality, cappedRegions, cappedReads } = counts;
  const warnings = [];
  if (discovered && highestQuality >= 0 && highestQuality < options.minBaseQuality) {
    const least = `no read has a base of quality ${options.minBaseQuality} or more (--min-base-quality)`;
    warnings.push(`${least}, so that no SNV is found; the highest quality is ${highestQuality}`);
  }
  if (cappedReads) {
    const where = `${counted(cappedRegions, "region")} deeper than ${options.maxDepth} reads a sample (--max-depth)`;
    warnings.push(`${counted(cappedReads, "read")} left out of ${where}`);
  }
  return [...warnings, ...ofNamesakes(counts), ...ofFilteredReads(counts, options, samples), ...ofSites(counts)];
}

/** @param {Counts} counts */
function ofNamesakes({ namesakes, readsOfRegions, firstNamesake }) {
  if (!namesakes || namesakes < MANY_NAMESAKES * readsOfRegions) return [];
  const many = `${namesakes} of ${readsOfRegions} reads have the name of another read at their place`;
  const cure = "reads of one name count as one molecule, so give each molecule a name of its own";
  return [`${many}, ${firstNamesake} the first: ${cure}`];
}

/** @param {Counts} counts @param {CallOptions} options @param {string[]} samples */
function ofFilteredReads(counts, options, samples) {
  const { readsOfRegions, setAside, emptied, coveredSites, firstEmptied, firstEmptiedSample } = counts;
  const share = readsOfRegions ? setAside / readsOfRegions : 0;
  if (!emptied && share < MANY_UNFIT) return [];
  const first = `${firstEmptied} (${samples[firstEmptiedSample]}) the first`;
  const without = emptied ? `; ${emptied} of ${coveredSites} sites have no read left, ${first}` : "";
  const aside = `${setAside} of ${readsOfRegions} reads (${(100 * share).toFixed(0)}%) fit no haplotype`;
  return [`${aside} and were set aside${without}: ${cure(options, counts)}`];
}

/** @param {Counts} counts */
function ofSites({ sites, unfit, firstUnfit, limited }) {
  const found = [];
  if (unfit) {
    const many = `${100 * MANY_UNFIT}% of the reads or more fit no haplotype (INFO NOFIT), ${firstUnfit} the first`;
    found.push(`at ${unfit} of ${sites} sites, ${many}: an allele may be missing there, or reads belong elsewhere`);
  }
  if (limited) {
    found.push(
      `${counted(limited, "site has", "sites have")} more than ${MAX_GENOTYPES} genotypes by their alleles and ploidy: the alternative ` +
        "alleles with the fewest reads were not weighed there, and where they stay in a record its PL is missing",
    );
  }
  return found;
}

/** How to keep the reads. @param {CallOptions} options @param {Counts} counts */
function cure({ baseQualityThreshold, capByMappingQuality }, { bases, lowered, setAside, basesSetAside }) {
  const length = setAside ? basesSetAside / setAside : 0;
  if (length > LONG_READS) {
    const reads = `reads of ${Math.round(length).toLocaleString("en-US")} bases need --preset ont`;
    return `${reads}, or --preset hifi where they have few errors; PacBio CLR needs --preset ont and candidates (-v)`;
  }
  const share = bases ? lowered / bases : 0;
  if (share <= MOST || baseQualityThreshold === null) {
    return "--error-rate 0 keeps them, for reads with many errors; or is the reference another one?";
  }
  const below = `${(100 * share).toFixed(0)}% of all bases are below quality ${baseQualityThreshold} and count as 6`;
  const kept = `${below}; --base-quality-threshold 0 keeps their qualities`;
  return capByMappingQuality ? `${kept}, --no-cap-by-mapq those of badly mapped reads` : kept;
}
