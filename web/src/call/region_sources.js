// Sources of regions: candidates that reads show, or listed ones (cpu/calling/region_sources.cpp).

import { rankOf } from "../files/intervals.js";
import { MAX_SHIFT } from "../genomics/regions.js";

/** @typedef {import("../genomics/blocks.js").ReadBlock} ReadBlock */
/** @typedef {import("../genomics/discovery.js").CandidateFinder} CandidateFinder */
/** @typedef {import("../genomics/nuisances.js").Nuisances} Nuisances */
/** @typedef {import("../genomics/regions.js").Region} Region */
/** @typedef {import("../genomics/regions.js").RegionBuilder} RegionBuilder */
/** @typedef {import("../genomics/variants.js").Variant} Variant */
/** @typedef {import("./places.js").RegionTest} RegionTest */

/**
 * Gives regions in coordinate order while reads arrive.
 *
 * @typedef {object} RegionSource
 * @property {(block: ReadBlock, frontier: number) => Promise<Region[]>} advance the regions that are complete once all
 *   reads up to `frontier` have arrived; the block has the newest reads
 * @property {(chrom: string) => Promise<Region[]>} finish the last regions of a contig and of contigs before it
 * @property {() => Promise<Region[]>} finishAll all remaining regions, once there are no more reads
 * @property {number | null} openStart the first base that the region which is not complete, or a later one, may need
 */

/** Gives regions of candidates that the reads show. Each region has a candidate that was asked for. @implements {RegionSource} */
export class DiscoveredRegions {
  /** @param {CandidateFinder} finder @param {RegionBuilder} builder @param {RegionTest} asked @param {RegionTest} known */
  constructor(finder, builder, asked, known) {
    this.finder = finder;
    this.builder = builder;
    this.asked = asked;
    this.known = known;
  }

  /** @param {ReadBlock} block */
  async advance(block) {
    const regions = await this.#joined(await this.finder.scan(block));
    return [...regions, ...this.builder.advance(block.chrom, this.finder.settled)].filter(isAsked);
  }

  async finish() {
    const regions = await this.#joined(await this.finder.finish());
    return [...regions, ...this.builder.finish()].filter(isAsked);
  }

  /** Nothing: these regions come from reads, and each contig was finished after its last read. */
  async finishAll() {
    return [];
  }

  get openStart() {
    const later = this.finder.settled - 2 * MAX_SHIFT;
    return this.builder.openStart === null ? later : Math.min(later, this.builder.openStart);
  }

  /** @param {Variant[]} variants */
  async #joined(variants) {
    /** @type {Region[]} */
    const regions = [];
    for (const variant of variants) {
      if (this.known(variant.chrom, variant.pos))
        regions.push(...(await this.builder.push(placed(variant, this.asked))));
    }
    return regions;
  }
}

/** Gives regions of listed candidates. Unlisted variants that reads show are added as nuisances. @implements {RegionSource} */
export class ListedRegions {
  /**
   * @param {AsyncIterator<Variant>} listed in the order of `contigs`, then by position
   * @param {RegionBuilder} builder
   * @param {string[]} contigs in the order of the reads
   * @param {Nuisances} nuisances
   * @param {RegionTest} asked
   */
  constructor(listed, builder, contigs, nuisances, asked) {
    this.listed = listed;
    this.builder = builder;
    this.nuisances = nuisances;
    this.asked = asked;
    this.rank = rankOf(contigs);
    /** @type {Promise<IteratorResult<Variant>> | null} */
    this.ahead = null;
    /** @type {Region[]} regions whose candidates are complete, but in which later reads may show a nuisance */
    this.joined = [];
  }

  /** @param {ReadBlock} block @param {number} frontier */
  async advance(block, frontier) {
    await this.nuisances.scan(block);
    await this.#join(this.#rankOf(block.chrom), frontier);
    this.joined.push(...this.builder.advance(block.chrom, frontier));
    /** @type {Region[]} */
    const regions = [];
    const { settled } = this.nuisances;
    while (this.joined.length && (this.joined[0].chrom !== block.chrom || this.joined[0].end <= settled)) {
      regions.push(...(await this.#next()));
    }
    const { flank } = this.builder.options;
    const starts = this.joined.map((region) => region.start);
    if (this.builder.openStart !== null) starts.push(this.builder.openStart - flank);
    this.nuisances.forget(Math.min(...starts, settled - flank) - 2 * MAX_SHIFT);
    return regions;
  }

  /** @param {string} chrom */
  async finish(chrom) {
    await this.nuisances.finish();
    return this.#rest(this.#rankOf(chrom) + 1);
  }

  async finishAll() {
    return this.#rest(this.rank.size);
  }

  get openStart() {
    const starts = this.joined.map((region) => region.coreStart);
    if (this.builder.openStart !== null) starts.push(this.builder.openStart);
    return starts.length ? Math.min(...starts) : null;
  }

  /** Joins the listed candidates before a place. @param {number} rank of the contig @param {number} position */
  async #join(rank, position) {
    for (;;) {
      this.ahead ??= this.listed.next();
      const { value: variant, done } = await this.ahead;
      if (done) return;
      const own = this.#rankOf(variant.chrom);
      if (own > rank || (own === rank && variant.pos >= position)) return;
      this.ahead = null;
      this.joined.push(...(await this.builder.push(placed(variant, this.asked))));
    }
  }

  /** The regions of the contigs before that of a rank. @param {number} rank */
  async #rest(rank) {
    await this.#join(rank, 0);
    this.joined.push(...this.builder.finish());
    /** @type {Region[]} */
    const regions = [];
    while (this.joined.length) regions.push(...(await this.#next()));
    return regions;
  }

  async #next() {
    const region = /** @type {Region} */ (this.joined.shift());
    return isAsked(region) ? [await this.nuisances.added(region)] : [];
  }

  /** @param {string} chrom */
  #rankOf(chrom) {
    return /** @type {number} */ (this.rank.get(chrom));
  }
}

/** The variant, with the role "context" if it lies outside the intervals that were asked for. @param {Variant} variant @param {RegionTest} asked @returns {Variant} */
function placed(variant, asked) {
  return asked(variant.chrom, variant.pos) ? variant : { ...variant, role: "context" };
}

/** Whether the genotype of at least one candidate of the region is asked for. @param {Region} region */
function isAsked(region) {
  return region.variants.some((variant) => variant.role === "asked");
}
