// Messages at the end of a run: which reads it left out, and what helps (pairhmm/calling/summary.py).

import { MAX_GENOTYPES } from "../genomics/genotypes.js";

/** @typedef {import("./evidence.js").Evidence} Evidence */
/** @typedef {import("./genotyping.js").Site} Site */
/** @typedef {import("./options.js").CallOptions} CallOptions */
/** @typedef {import("./scoring.js").Preparation} Preparation */

/** The share of reads that fit no haplotype from which on it is said, of a run and of a site. */
export const MANY_UNFIT = 0.2;
const MOST = 0.5;

/** Counts reads that fit no haplotype, and sites with limits, region by region. */
export class Announcements {
  /** @param {string[]} samples */
  constructor(samples) {
    this.samples = samples;
    this.reads = this.setAside = this.sites = this.emptied = this.limited = this.records = this.unfit = 0;
    this.firstEmptied = this.firstUnfit = "";
  }

  /** Counts a region. @param {Evidence} evidence @param {Site[]} sites */
  add(evidence, sites) {
    const { region, reads, setAside } = evidence;
    const count = setAside.reduce((sum, one) => sum + one, 0);
    this.reads += setAside.length;
    this.setAside += count;
    this.records += sites.length;
    for (const { leftOut, statistics, variant } of sites) {
      this.limited += Number(leftOut > 0);
      if (statistics.unfit < MANY_UNFIT) continue;
      this.unfit++;
      this.firstUnfit ||= `${variant.chrom}:${variant.pos + 1}`;
    }
    region.variants.forEach((variant, index) => {
      if (variant.role !== "asked") return;
      const [first, last] = region.extents[index];
      const covering = reads.start.reduce((over, start, read) => {
        if (start < last && reads.end[read] > first) over.push(read);
        return over;
      }, /** @type {number[]} */ ([]));
      if (!covering.length) return;
      this.sites++;
      const left = new Set(covering.filter((read) => !setAside[read]).map((read) => reads.sample[read]));
      const emptied = covering.map((read) => reads.sample[read]).filter((sample) => !left.has(sample));
      if (!emptied.length) return;
      this.emptied++;
      this.firstEmptied ||= `${variant.chrom}:${variant.pos + 1} (${this.samples[Math.min(...emptied)]})`;
    });
  }

  /** What is worth knowing, once all regions are counted. @param {{reads: number}} counts @param {Preparation} preparation */
  notes({ reads }, { tagged }) {
    const used = `tags BI and BD of ${tagged} of ${reads} reads are used as gap-open qualities`;
    return tagged ? [`${used} (--no-indel-tags leaves them)`] : [];
  }

  /**
   * The warnings, once all regions are counted.
   *
   * @param {{cappedRegions: number, cappedReads: number, highestQuality: number}} counts
   * @param {Preparation} preparation
   * @param {CallOptions} options
   * @param {boolean} discovered whether candidates are found in reads
   */
  warnings({ cappedRegions, cappedReads, highestQuality }, preparation, options, discovered) {
    const warnings = [];
    if (discovered && highestQuality >= 0 && highestQuality < options.minBaseQuality) {
      const least = `no read has a base of quality ${options.minBaseQuality} or more (--min-base-quality)`;
      warnings.push(`${least}, so that no SNV is found; the highest quality is ${highestQuality}`);
    }
    if (cappedReads) {
      const where = `${cappedRegions} regions deeper than ${options.maxDepth} reads a sample (--max-depth)`;
      warnings.push(`${cappedReads} reads left out of ${where}`);
    }
    const share = this.reads ? this.setAside / this.reads : 0;
    if (this.emptied || share >= MANY_UNFIT) {
      const emptied = this.emptied
        ? `; ${this.emptied} of ${this.sites} sites have no read left, ${this.firstEmptied} the first`
        : "";
      const percent = (100 * share).toFixed(0);
      const aside = `${this.setAside} of ${this.reads} reads (${percent}%) fit no haplotype and were set aside`;
      const lowered = preparation.bases ? preparation.lowered / preparation.bases : 0;
      warnings.push(`${aside}${emptied}: ${cure(options, lowered)}`);
    }
    if (this.unfit) {
      const many = `${100 * MANY_UNFIT}% of the reads or more fit no haplotype (INFO NOFIT), ${this.firstUnfit} the first`;
      warnings.push(
        `at ${this.unfit} of ${this.records} sites, ${many}: an allele may be missing there, or reads belong elsewhere`,
      );
    }
    if (this.limited) {
      warnings.push(
        `${this.limited} sites have more than ${MAX_GENOTYPES} genotypes by their alleles and ploidy: the alternative ` +
          "alleles with the fewest reads were not weighed there, and where they stay in a record its PL is missing",
      );
    }
    return warnings;
  }
}

/** How to keep the reads. @param {CallOptions} options @param {number} lowered the share of all bases whose quality was lowered to 6 */
function cure({ baseQualityThreshold, capByMappingQuality }, lowered) {
  if (lowered <= MOST || baseQualityThreshold === null) {
    return "--error-rate 0 keeps them, for reads with many errors; or is the reference another one?";
  }
  const below = `${(100 * lowered).toFixed(0)}% of all bases are below quality ${baseQualityThreshold} and count as 6`;
  const kept = `${below}; --base-quality-threshold 0 keeps their qualities`;
  return capByMappingQuality ? `${kept}, --no-cap-by-mapq those of badly mapped reads` : kept;
}
