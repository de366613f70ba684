// Nuisances: variants that reads show near listed candidates, but that are not listed (cpu/calling/unlisted_variants.cpp).

import { MAX_SHIFT, shiftLeft, trimAllele, variantExtent } from "./regions.js";

/** @typedef {import("./blocks.js").ReadBlock} ReadBlock */
/** @typedef {import("./discovery.js").CandidateFinder} CandidateFinder */
/** @typedef {import("./regions.js").Extent} Extent */
/** @typedef {import("./regions.js").FetchBases} FetchBases */
/** @typedef {import("./regions.js").Region} Region */
/** @typedef {import("./variants.js").Variant} Variant */
/** @typedef {{variant: Variant, extent: Extent}} Shown a variant that reads show, and the bases it touches */

/** Collects the variants that the reads of a contig show, and adds them to regions of listed candidates. */
export class Nuisances {
  /** @param {CandidateFinder} finder @param {FetchBases} fetch */
  constructor(finder, fetch) {
    this.finder = finder;
    this.fetch = fetch;
    /** @type {Shown[]} in order of position */
    this.shown = [];
  }

  /** The position before which all variants that the reads of the contig show are known. */
  get settled() {
    return this.finder.settled;
  }

  /** Finds variants in the next reads. @param {ReadBlock} block */
  async scan(block) {
    if (this.shown.length && this.shown[0].variant.chrom !== block.chrom) this.shown = [];
    await this.#add(await this.finder.scan(block));
  }

  /** Finds the last variants: the contig has no more reads. */
  async finish() {
    await this.#add(await this.finder.finish());
  }

  /** Drops the variants before a position, which no later region needs. @param {number} position */
  forget(position) {
    const first = this.shown.findIndex((one) => one.variant.pos >= position);
    this.shown.splice(0, first < 0 ? this.shown.length : first);
  }

  /** The region with the nuisances that lie in it. @param {Region} region @returns {Promise<Region>} */
  async added(region) {
    const listedAlleles = new Set(region.variants.map(alleleText));
    const inside = this.shown.filter(
      ({ variant, extent }) =>
        variant.chrom === region.chrom &&
        region.start <= variant.pos &&
        variant.pos < region.end &&
        region.start < extent[0] &&
        extent[1] < region.end &&
        !listedAlleles.has(alleleText(variant)),
    );
    if (!inside.length) return region;
    const listed = new Set();
    for (const variant of region.variants) for (const change of await this.#changes(variant)) listed.add(change);
    /** @type {Shown[]} */
    const both = region.variants.map((variant, index) => ({ variant, extent: region.extents[index] }));
    for (const { variant, extent } of inside) {
      const changes = await this.#changes(variant);
      const alts = variant.alts.filter((_, index) => !listed.has(changes[index]));
      if (alts.length) both.push({ variant: { ...variant, alts, role: "nuisance" }, extent });
    }
    /** @param {Shown} one */
    const isNuisance = (one) => Number(one.variant.role === "nuisance");
    both.sort((a, b) => a.variant.pos - b.variant.pos || isNuisance(a) - isNuisance(b));
    return { ...region, variants: both.map((one) => one.variant), extents: both.map((one) => one.extent) };
  }

  /** @param {Variant[]} variants */
  async #add(variants) {
    for (const variant of variants) this.shown.push({ variant, extent: await variantExtent(variant, this.fetch) });
  }

  /** What each alternative allele changes, insertions and deletions shifted left. @param {Variant} variant */
  async #changes(variant) {
    const changes = [];
    for (const alt of variant.alts) {
      let [head, old, now] = trimAllele(variant.ref, alt);
      let start = variant.pos + head;
      if (!(old && now)) {
        const offset = Math.max(0, start - 2 * MAX_SHIFT);
        const bases = await this.fetch(variant.chrom, offset, start + old.length);
        [start, old, now] = shiftLeft(bases, start - offset, old, now);
        start += offset;
      }
      changes.push(`${start}:${old}>${now}`);
    }
    return changes;
  }
}

/** @param {Variant} variant */
function alleleText(variant) {
  return `${variant.pos}:${variant.ref}>${variant.alts.join()}`;
}
