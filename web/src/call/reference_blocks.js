// Walks over what is asked for, and gives the blocks of the reference between records (cpu/calling/reference_walk.cpp).

import { rankOf } from "../files/intervals.js";
import { ConfidenceScanner } from "../genomics/reference_confidence.js";

/** @typedef {import("../files/intervals.js").Interval} Interval */
/** @typedef {import("../genomics/blocks.js").ReadBlock} ReadBlock */
/** @typedef {import("../genomics/native.js").Native} Native */
/** @typedef {import("../genomics/reference_confidence.js").ReferenceBlock} ReferenceBlock */
/** @typedef {import("./options.js").CallOptions} CallOptions */

/** Gives the blocks of a run in order, without the places of records. */
export class ReferenceWalk {
  /**
   * @param {ConfidenceScanner} scanner has counted the reads of each place when its blocks are asked for
   * @param {Interval[]} places what is asked for, disjoint
   * @param {string[]} contigs in the order of the run
   * @param {number} ploidy
   */
  constructor(scanner, places, contigs, ploidy) {
    this.scanner = scanner;
    this.ploidy = ploidy;
    this.rank = rankOf(contigs);
    this.places = [...places].sort((a, b) => this.#rankOf(a.chrom) - this.#rankOf(b.chrom) || a.start - b.start);
    this.next = 0;
    this.done = { rank: 0, position: 0 };
  }

  /** The reads, which are counted while they pass. @param {AsyncIterable<ReadBlock>} blocks */
  async *counted(blocks) {
    for await (const block of blocks) {
      await this.scanner.add(block);
      yield block;
    }
  }

  /** The blocks before a position that were not given yet. @param {string} chrom @param {number} position */
  until(chrom, position) {
    return this.#until(this.#rankOf(chrom), position);
  }

  /** All blocks that were not given yet. */
  rest() {
    return this.#until(this.rank.size, 0);
  }

  /** Gives no block before a position any more: a record stands there. @param {string} chrom @param {number} position */
  passOver(chrom, position) {
    this.#advance(this.#rankOf(chrom), position);
  }

  /** @param {number} rank @param {number} position */
  #advance(rank, position) {
    const { done } = this;
    if (rank > done.rank || (rank === done.rank && position > done.position)) this.done = { rank, position };
  }

  /** @param {number} rank @param {number} position */
  async #until(rank, position) {
    /** @type {ReferenceBlock[]} */
    const found = [];
    for (; this.next < this.places.length; this.next++) {
      const { chrom, start, end } = this.places[this.next];
      const own = this.#rankOf(chrom);
      const first = this.done.rank === own ? Math.max(start, this.done.position) : start;
      const last = own < rank ? end : own === rank ? Math.min(end, position) : first;
      if (first < last) found.push(...(await this.scanner.take(chrom, first, last, this.ploidy)));
      if (own > rank || (own === rank && end > position)) break;
      if (this.places[this.next + 1]?.chrom !== chrom) this.scanner.forget(chrom);
    }
    this.#advance(rank, position);
    return found;
  }

  /** @param {string} chrom */
  #rankOf(chrom) {
    return /** @type {number} */ (this.rank.get(chrom));
  }
}

/**
 * The walk over the blocks of a gVCF.
 *
 * @param {Native} native
 * @param {import("../files/fasta.js").Reference} reference
 * @param {Map<string, number>} contigs
 * @param {Interval[] | null} asked null for everything
 * @param {CallOptions} options
 */
export function walkOf(native, reference, contigs, asked, options) {
  const everything = Array.from(contigs, ([chrom, end]) => ({ chrom, start: 0, end }));
  const scanner = new ConfidenceScanner(native, reference.fetch.bind(reference), options.minBaseQuality);
  return new ReferenceWalk(scanner, asked ?? everything, [...contigs.keys()], options.ploidy);
}
