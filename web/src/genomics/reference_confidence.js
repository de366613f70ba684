// Blocks of positions where reads show the reference (cpu/calling/reference_confidence.cpp). The counting is that
// C++. All coordinates are 0-based half-open.

import { encode } from "../letters.js";
import { joined, offsets } from "./arrays.js";
import { MAX_SHIFT } from "./regions.js";

/** @typedef {import("./blocks.js").ReadBlock} ReadBlock */
/** @typedef {import("./native.js").Native} Native */
/** @typedef {import("./regions.js").FetchBases} FetchBases */

/** GQ from which on each further band of blocks begins. */
export const GQ_BANDS = [1, 10, 20, 30, 40, 60, 80];
const NUMBERS = 9; // of a block, as confidence_take (cpu/wasm/reference_confidence.cpp) gives them

/**
 * Neighbouring positions that are alike: their GQ lies in one band.
 *
 * @typedef {object} ReferenceBlock
 * @property {string} chrom
 * @property {number} start
 * @property {number} end
 * @property {string} base the reference at `start`
 * @property {number} ploidy 1 or 2
 * @property {number} band -2 without reads, -1 where all genotypes are equally likely; otherwise how many of the bands'
 *   limits are not above GQ
 * @property {number} quality the lowest GQ
 * @property {number} depth the sum of the depths
 * @property {number} leastDepth
 * @property {number} one the lowest Phred likelihoods of one and of two copies that are not the reference
 * @property {number} both
 */

/** Counts the reads of one sample at every position. */
export class ConfidenceScanner {
  /** @param {Native} native @param {FetchBases} fetch @param {number} minBaseQuality */
  constructor(native, fetch, minBaseQuality) {
    this.native = native;
    this.fetch = fetch;
    this.make = () => native.call.confidence_make(minBaseQuality);
    // Reads of a contig may arrive before the blocks of the one before are taken.
    this.counts = new Map([["", this.make()]]);
  }

  /** Counts the reads of the next block. @param {ReadBlock} block */
  async add(block) {
    const places = this.native.with((arrays) => this.native.taken(this.native.call.covered(block.passed(arrays))));
    if (!places.length) return;
    const counts = this.counts.get(block.chrom) ?? this.make();
    this.counts.set(block.chrom, counts);
    const starts = places.filter((_, index) => index % 2 === 0);
    /** @type {Uint8Array[]} */
    const letters = [];
    for (const [window, start] of starts.entries()) {
      // Repeats at the ends of reads show only behind them.
      letters.push(encode(await this.fetch(block.chrom, start, places[2 * window + 1] + MAX_SHIFT)));
    }
    const checksums = Uint32Array.from({ length: block.length }, (_, read) => block.names.checksum(read));
    this.native.with((arrays) =>
      this.native.call.confidence_add(
        counts,
        block.passed(arrays),
        arrays.pass(block.end),
        arrays.pass(checksums),
        starts.length,
        arrays.pass(starts),
        arrays.pass(offsets(letters.map((own) => own.length))),
        arrays.pass(joined(letters)),
      ),
    );
  }

  /**
   * The blocks of an interval whose reads were all added. What lies before its end is forgotten.
   *
   * @param {string} chrom
   * @param {number} start
   * @param {number} end
   * @param {number} ploidy
   */
  async take(chrom, start, end, ploidy) {
    const counts = /** @type {number} */ (this.counts.get(chrom) ?? this.counts.get(""));
    const limits = Int32Array.from(GQ_BANDS);
    const numbers = this.native.with((arrays) =>
      this.native.taken(
        this.native.call.confidence_take(counts, start, end, limits.length, arrays.pass(limits), Number(ploidy === 1)),
      ),
    );
    /** @type {ReferenceBlock[]} */
    const blocks = [];
    for (let at = 0; at < numbers.length; at += NUMBERS) {
      const [first, last, band, quality, low, high, leastDepth, one, both] = numbers.subarray(at, at + NUMBERS);
      const base = await this.fetch(chrom, first, first + 1);
      const depth = 2 ** 32 * high + (low >>> 0);
      blocks.push({ chrom, start: first, end: last, base, ploidy, band, quality, depth, leastDepth, one, both });
    }
    return blocks;
  }

  /** Forgets a contig. @param {string} chrom */
  forget(chrom) {
    const counts = this.counts.get(chrom);
    if (counts !== undefined) this.native.call.confidence_free(counts);
    this.counts.delete(chrom);
  }
}
