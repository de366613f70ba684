// Finds candidate variants in the reads (cpu/calling/candidate_finder.cpp). The counting is that C++.

import { encode } from "../letters.js";
import { joined, offsets } from "./arrays.js";
import { ReadBlock } from "./blocks.js";
import { shiftLeft, trimAllele } from "./regions.js";
import { endOf } from "./variants.js";

/** @typedef {import("./native.js").Native} Native */
/** @typedef {import("./regions.js").FetchBases} FetchBases */
/** @typedef {import("./regions.js").Region} Region */
/** @typedef {import("./variants.js").Variant} Variant */

/**
 * When an allele that reads show becomes a candidate: one sample has to reach every threshold.
 *
 * @typedef {object} CandidateOptions
 * @property {number} minBaseQuality bases of a lower Phred quality are not counted
 * @property {number} minSnvCount the least number of reads that show the allele
 * @property {number} minIndelCount
 * @property {number} minSnvFraction the least share of the reads at the position that show the allele
 * @property {number} minIndelFraction
 * @property {boolean} assembly whether reads are assembled where they disagree with the reference
 */

/** An allele behind a position: the bases that it replaces there, and its own. */
/** @typedef {{position: number, length: number, isIndel: boolean, joinedUntil: number, letters: string}} Found */

const ALL = -1;

/** Finds candidates in blocks of reads, in order of position. */
export class CandidateFinder {
  /** @param {Native} native @param {FetchBases} fetch @param {number} samples @param {CandidateOptions} options */
  constructor(native, fetch, samples, options) {
    this.native = native;
    this.fetch = fetch;
    this.discovery = native.call.discovery_make(
      samples,
      options.minBaseQuality,
      options.minSnvCount,
      options.minIndelCount,
      options.minSnvFraction,
      options.minIndelFraction,
      Number(options.assembly),
    );
    /** Bases on either side of a candidate whose reads decide whether it is found, beside its own reads. */
    this.reach = options.assembly ? native.call.longest_window() : 0;
    this.found = 0;
    this.chrom = "";
  }

  /** The position before which all candidates of the contig were given. */
  get settled() {
    return this.native.call.discovery_settled(this.discovery);
  }

  /** Counts the reads of the next block. The candidates that no later read can change. @param {ReadBlock} block */
  async scan(block) {
    if (block.chrom !== this.chrom) {
      this.native.call.discovery_reset(this.discovery);
      this.chrom = block.chrom;
    }
    // Only parts of the reference are held: reads may lie far apart or have introns.
    const places = this.native.with((arrays) => this.native.taken(this.native.call.covered(block.passed(arrays))));
    if (places.length) await this.#give(this.native.call.discovery_add, block, places);
    return this.#variants(block, block.length ? block.start[block.length - 1] : 0);
  }

  /** The last candidates of a contig, once all its reads were counted. */
  finish() {
    return this.#variants(ReadBlock.empty(this.chrom), ALL);
  }

  /**
   * Calls a function with reads and windows of the reference.
   *
   * @param {(...given: number[]) => number} call
   * @param {ReadBlock} block
   * @param {Int32Array} places start and end of each window
   */
  async #give(call, block, places) {
    const starts = places.filter((_, index) => index % 2 === 0);
    const ends = places.filter((_, index) => index % 2 === 1);
    /** @type {Uint8Array[]} */
    const letters = [];
    for (let i = 0; i < starts.length; i++) letters.push(encode(await this.fetch(this.chrom, starts[i], ends[i])));
    this.native.with((arrays) =>
      call(
        this.discovery,
        block.passed(arrays),
        starts.length,
        arrays.pass(starts),
        arrays.pass(offsets(letters.map((one) => one.length))),
        arrays.pass(joined([new Uint8Array(0), ...letters])),
      ),
    );
  }

  /** @param {ReadBlock} block @param {number} frontier @returns {Promise<Variant[]>} */
  async #variants(block, frontier) {
    const places = this.native.taken(this.native.call.discovery_windows(this.discovery, frontier));
    await this.#give(this.native.call.discovery_assemble, block, places);
    const found = unpacked(this.native.taken(this.native.call.discovery_take(this.discovery)));
    /** @type {Variant[]} */
    const variants = [];
    for (let i = 0; i < found.length;) {
      const { position, isIndel } = found[i];
      let end = i + 1;
      while (end < found.length && found[end].position === position && found[end].isIndel === isIndel) end++;
      const rows = found.slice(i, end);
      const span = isIndel ? 1 + Math.max(...rows.map((row) => row.length)) : 1;
      const ref = await this.fetch(this.chrom, position, position + span);
      // The indels behind one anchor base are alleles of one record, whose REF spans the longest deletion.
      const alts = rows.map((row) => (isIndel ? ref[0] + row.letters + ref.slice(1 + row.length) : row.letters));
      const joinedUntil = Math.max(...rows.map((row) => row.joinedUntil));
      const recordIndex = this.found++;
      variants.push({ chrom: this.chrom, pos: position, ref, alts, id: "", recordIndex, role: "asked", joinedUntil });
      i = end;
    }
    return variants;
  }
}

/** @param {Int32Array} numbers as scanner_take (cpu/wasm/candidates.cpp) gives them @returns {Found[]} */
function unpacked(numbers) {
  const found = [];
  for (let at = 0; at < numbers.length;) {
    const [position, length, isIndel, joinedUntil, size] = numbers.subarray(at, at + 5);
    const letters = Array.from(numbers.subarray(at + 5, at + 5 + size), (code) => "ACGTN"[code]).join("");
    found.push({ position, length, isIndel: isIndel !== 0, joinedUntil, letters });
    at += 5 + size;
  }
  return found;
}

/**
 * The allele of each candidate that each read carries, according to the read's alignment: [reads][candidates].
 *
 * @param {Native} native
 * @param {ReadBlock} reads
 * @param {Region} region
 * @param {string} reference bases of [haplotypeStart, haplotypeEnd)
 * @returns {Int16Array} `UNKNOWN` where a read does not span the candidate or shows none of its alleles
 */
export function carriedAlleles(native, reads, region, reference) {
  const offset = region.haplotypeStart;
  const { variants } = region;
  const keys = variants.flatMap((variant) => variant.alts.map((alt) => alleleKey(variant, alt, reference, offset)));
  const changes = keys.flatMap((key) => key.changes);
  return native.with((arrays) => {
    /** @param {number[]} values */
    const numbers = (values) => arrays.pass(Int32Array.from(values));
    /** @param {number[]} sizes */
    const begins = (sizes) => arrays.pass(offsets(sizes));
    const inserted = encode(keys.map((key) => key.inserted).join(""));
    const given = arrays.struct([
      variants.length,
      numbers(variants.map((variant) => variant.pos)),
      numbers(variants.map(endOf)),
      begins(variants.map((variant) => variant.alts.length)),
      numbers(keys.map((key) => key.anchor)),
      numbers(keys.map((key) => key.deleted)),
      begins(keys.map((key) => key.inserted.length)),
      arrays.pass(inserted),
      begins(keys.map((key) => key.changes.length)),
      numbers(changes.map((change) => change.position)),
      arrays.pass(Uint8Array.from(changes, (change) => change.was)),
      arrays.pass(Uint8Array.from(changes, (change) => change.now)),
    ]);
    const size = reads.length * variants.length;
    const carried = arrays.room(2 * size);
    const [ends, letters] = [arrays.pass(reads.end), arrays.pass(encode(reference))];
    native.call.carried_alleles(reads.passed(arrays), ends, offset, reference.length, letters, given, carried);
    return arrays.read(Int16Array, carried, size);
  });
}

const NO_INDEL = { anchor: -1, deleted: 0, inserted: "" };

/**
 * An allele as one indel, shifted left, or as changes of single letters.
 *
 * @param {Variant} variant
 * @param {string} alt
 * @param {string} reference
 * @param {number} offset
 */
function alleleKey(variant, alt, reference, offset) {
  const [head, old, now] = trimAllele(variant.ref, alt);
  const start = variant.pos + head;
  /** @type {{position: number, was: number, now: number}[]} */
  const changes = [];
  if (old.length === now.length) {
    const [before, after] = [encode(old), encode(now)];
    before.forEach((was, i) => was !== after[i] && changes.push({ position: start + i, was, now: after[i] }));
    return { ...NO_INDEL, changes };
  }
  const [local, deleted, inserted] = shiftLeft(reference, start - offset, old, now);
  return { anchor: offset + local - 1, deleted: deleted.length, inserted, changes };
}
