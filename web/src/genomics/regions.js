// Joins candidates into regions, whose haplotypes are scored together (cpu/calling/regions.cpp).
//
// The extent of a candidate is the reference bases that it replaces. For an insertion or deletion it is also every base
// to which it could be shifted. All coordinates are 0-based half-open.

/** @typedef {import("./variants.js").Variant} Variant */
/** @typedef {(chrom: string, start: number, end: number) => Promise<string>} FetchBases reference bases, clamped to the contig */
/** @typedef {[number, number]} Extent */

/** Bases that an insertion or deletion is shifted through a repeat at most. */
export const MAX_SHIFT = 150;

/**
 * How candidates are joined, in bases.
 *
 * @typedef {object} RegionOptions
 * @property {number} joinDistance candidates whose extents are at most this far apart share a region
 * @property {number} maxSpan the most bases that a region's candidates span, unless one alone is longer
 * @property {number} maxAlleles the most alternative alleles in a region
 * @property {number} flank reads are cut to the candidates' extent and this many bases on either side
 * @property {number} minFlank the least bases on either side, where regions touch
 * @property {number} pad haplotypes are longer than the cut reads by this many bases on either side
 */

/**
 * An interval of a contig with the candidates in it, which are scored together.
 *
 * @typedef {object} Region
 * @property {string} chrom
 * @property {number} coreStart the extent of the candidates: reads that overlap it are scored
 * @property {number} coreEnd
 * @property {number} start the interval that reads are cut to
 * @property {number} end
 * @property {number} haplotypeStart the interval that haplotypes span
 * @property {number} haplotypeEnd
 * @property {Variant[]} variants in order of position
 * @property {Extent[]} extents of the candidates
 */

/**
 * Two alleles without the bases that they share, at the end first, then at the start.
 *
 * @param {string} ref
 * @param {string} alt
 * @returns {[number, string, string]} bases dropped from the start, and the bases that differ
 */
export function trimAllele(ref, alt) {
  let shortest = Math.min(ref.length, alt.length);
  let tail = 0;
  while (tail < shortest - 1 && ref[ref.length - 1 - tail] === alt[alt.length - 1 - tail]) tail++;
  shortest -= tail;
  let head = 0;
  while (head < shortest && ref[head] === alt[head]) head++;
  return [head, ref.slice(head, ref.length - tail), alt.slice(head, alt.length - tail)];
}

/**
 * A trimmed insertion or deletion, shifted left as far as it spells the same sequence and keeps an anchor base.
 *
 * @param {string} reference
 * @param {number} start position of `old` in `reference`
 * @param {string} old one of the two is empty; other changes are not shifted
 * @param {string} now
 * @returns {[number, string, string]}
 */
export function shiftLeft(reference, start, old, now) {
  while (start > 1 && !(old && now) && reference[start - 1] === (old || now).at(-1)) {
    start--;
    old = old && old.at(-1) + old.slice(0, -1);
    now = now && now.at(-1) + now.slice(0, -1);
  }
  return [start, old, now];
}

/**
 * How far a trimmed insertion or deletion can be shifted left and right in `bases`, which begin at `offset`.
 *
 * @param {number} start
 * @param {string} ref
 * @param {string} alt
 * @param {string} bases
 * @param {number} offset
 */
function shiftRange(start, ref, alt, bases, offset) {
  const unit = ref || alt;
  const size = unit.length;
  let left = 0;
  let position = start - offset - 1;
  while (position >= 0 && left < MAX_SHIFT && bases[position] === unit[size - 1 - (left % size)]) {
    left++;
    position--;
  }
  let right = 0;
  position = start + ref.length - offset;
  while (position < bases.length && right < MAX_SHIFT && bases[position] === unit[right % size]) {
    right++;
    position++;
  }
  return [left, right];
}

/**
 * The extent of a candidate.
 *
 * @param {Variant} variant
 * @param {FetchBases} fetch
 * @returns {Promise<Extent>} at least the record's own reference bases
 */
export async function variantExtent(variant, fetch) {
  let start = variant.pos;
  let end = variant.pos + variant.ref.length;
  if (variant.ref.length === 1 && variant.alts.every((alt) => alt.length === 1)) return [start, end];
  const offset = Math.max(0, variant.pos - MAX_SHIFT);
  const bases = await fetch(variant.chrom, offset, end + MAX_SHIFT);
  for (const alt of variant.alts) {
    const [head, refPart, altPart] = trimAllele(variant.ref, alt);
    if (Boolean(refPart) === Boolean(altPart)) continue;
    const first = variant.pos + head;
    const [left, right] = shiftRange(first, refPart, altPart, bases, offset);
    start = Math.min(start, first - left);
    // One base more: a read that ends inside the repeat does not show its length.
    end = Math.max(end, first + refPart.length + right + 1);
  }
  return [start, end];
}

/** Joins a stream of candidates, in order of position, into regions. */
export class RegionBuilder {
  /** @param {FetchBases} fetch @param {Map<string, number>} contigs lengths @param {RegionOptions} options */
  constructor(fetch, contigs, options) {
    this.fetch = fetch;
    this.contigs = contigs;
    this.options = options;
    /** @type {Variant[]} */
    this.variants = [];
    /** @type {Extent[]} */
    this.extents = [];
    this.coreStart = this.coreEnd = this.alleles = this.joinedUntil = 0;
    /** @type {Region | null} */
    this.previous = null;
  }

  /** Takes the next candidate. The open region, where the candidate does not join it. @param {Variant} variant */
  async push(variant) {
    const extent = await variantExtent(variant, this.fetch);
    /** @type {Region[]} */
    const closed = [];
    if (this.variants.length && !this.#joins(variant, extent)) {
      closed.push(this.#close(variant.chrom === this.variants[0].chrom ? extent[0] : null));
    }
    const isFirst = !this.variants.length;
    this.coreStart = isFirst ? extent[0] : Math.min(this.coreStart, extent[0]);
    this.coreEnd = isFirst ? extent[1] : Math.max(this.coreEnd, extent[1]);
    this.joinedUntil = Math.max(this.joinedUntil, variant.joinedUntil ?? 0);
    this.variants.push(variant);
    this.extents.push(extent);
    this.alleles += variant.alts.length;
    return closed;
  }

  /**
   * The open region once no candidate at or after `frontier` can join it or limit its flank.
   *
   * @param {string} chrom
   * @param {number} frontier
   */
  advance(chrom, frontier) {
    const reach =
      Math.max(this.coreEnd, this.joinedUntil) + Math.max(this.options.joinDistance, this.options.flank) + MAX_SHIFT;
    return this.variants.length && (this.variants[0].chrom !== chrom || frontier > reach) ? this.finish() : [];
  }

  /** The open region, if any. */
  finish() {
    return this.variants.length ? [this.#close(null)] : [];
  }

  /** Start of the open region's core; null where no region is open. */
  get openStart() {
    return this.extents.length ? this.coreStart : null;
  }

  /** @param {Variant} variant @param {Extent} extent */
  #joins(variant, extent) {
    const { joinDistance, maxSpan, maxAlleles } = this.options;
    return (
      variant.chrom === this.variants[0].chrom &&
      (extent[0] - this.coreEnd <= joinDistance || variant.pos < this.joinedUntil) &&
      Math.max(this.coreEnd, extent[1]) - Math.min(this.coreStart, extent[0]) <= maxSpan &&
      this.alleles + variant.alts.length <= maxAlleles
    );
  }

  /** Closes the open region. @param {number | null} nextStart where the next region on its contig begins */
  #close(nextStart) {
    const { coreStart, coreEnd, previous, options } = this;
    const { chrom } = this.variants[0];
    const length = /** @type {number} */ (this.contigs.get(chrom));
    let [first, last] = [0, length];
    if (previous && previous.chrom === chrom) {
      // Regions stay in order of start, even where an indel can be shifted to before the last region.
      first = Math.max(Math.min(previous.coreEnd, coreStart - options.minFlank), previous.start);
    }
    if (nextStart !== null) last = Math.max(nextStart, coreEnd + options.minFlank);
    const start = Math.max(0, coreStart - options.flank);
    const end = Math.min(length, coreEnd + options.flank);
    /** @type {Region} */
    const region = {
      chrom,
      coreStart,
      coreEnd,
      start: Math.max(start, first),
      end: Math.min(end, last),
      haplotypeStart: Math.max(0, start - options.pad),
      haplotypeEnd: Math.min(length, end + options.pad),
      variants: this.variants,
      extents: this.extents,
    };
    this.previous = region;
    this.variants = [];
    this.extents = [];
    this.alleles = this.joinedUntil = 0;
    return region;
  }
}
