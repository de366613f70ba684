// Checks that reads were aligned to this reference, by their bases and by the checksums in their header
// (pairhmm/calling/reference_check.py). All coordinates are 0-based half-open.

import { Md5 } from "./md5.js";
import { InputProblem } from "./problem.js";

/** @import { UnrolledReference } from "../call/circles.js" */
/** @import { ReadBlock } from "./read_block.js" */

// Reads of a contig that are compared: this many at first, and then one in so many.
const [FIRST_READS, ONE_IN] = [64, 256];
const MOST_BASES = 1_000_000;
// A read with a larger share of mismatches was not aligned to this reference. Unrelated ones differ in 3 of 4 bases.
const WRONG_SHARE = 0.4;
// The fewest comparable bases of a read that counts, and the fewest such reads for a verdict.
const [FEWEST_BASES, FEWEST_READS] = [30, 10];
// Reads that span more than this many times their length are not compared: fetching an intron costs too much.
const LONGEST_SPAN = 20;
// Checksums are computed for contigs of at most this many bases in all. Beyond, only if reads disagree.
const SUMMED_UNASKED = 10_000_000;
const AT_ONCE = 1 << 22;
const CURE = "use the reference that the reads were aligned to";

/** Watches blocks of reads, and stops a run whose reads disagree with the reference. */
export class ReferenceCheck {
  /** @param {UnrolledReference} reference @param {Map<string, string>} checksums MD5 of contigs, from the reads' header @param {(text: string) => void} warn */
  constructor(reference, checksums, warn) {
    this.reference = reference;
    this.checksums = checksums;
    this.warn = warn;
    this.leftToSum = SUMMED_UNASKED;
    this.chrom = "";
    this.isSettled = false;
    this.seen = this.lookedAt = this.judged = this.wrong = 0;
  }

  /** Passes the blocks on, unchanged. @param {AsyncIterable<ReadBlock>} blocks */
  async *watch(blocks) {
    for await (const block of blocks) {
      if (block.chrom !== this.chrom) await this.#begin(block.chrom);
      if (!this.isSettled) await this.#lookAt(block);
      yield block;
    }
  }

  /** @param {string} chrom */
  async #begin(chrom) {
    this.chrom = chrom;
    this.isSettled = false;
    this.seen = this.lookedAt = this.judged = this.wrong = 0;
    const length = this.reference.length(chrom);
    if (!this.checksums.has(chrom) || length > this.leftToSum) return;
    this.leftToSum -= length;
    this.isSettled = await this.#sumsAgree();
    if (!this.isSettled) {
      this.warn(`${this.reference.path}: contig ${chrom} is not the one that the reads' header names (M5)`);
    }
  }

  async #sumsAgree() {
    const length = this.reference.length(this.chrom);
    const total = new Md5();
    for (let start = 0; start < length; start += AT_ONCE) {
      total.add(new TextEncoder().encode(await this.reference.fetch(this.chrom, start, start + AT_ONCE)));
    }
    return total.hex() === this.checksums.get(this.chrom)?.toLowerCase();
  }

  /** @param {ReadBlock} block */
  async #lookAt(block) {
    this.seen += block.length;
    const count = Math.min(block.length, FIRST_READS + Math.floor(this.seen / ONE_IN) - this.lookedAt);
    if (count <= 0) return;
    this.lookedAt += count;
    const step = count > 1 ? (block.length - 1) / (count - 1) : 0;
    const reads = new Set(Array.from({ length: count }, (_, index) => Math.floor(index * step)));
    const { start, end, baseOffset } = block;
    let bases = 0;
    for (const read of reads) {
      const length = baseOffset[read + 1] - baseOffset[read];
      const isShort = end[read] - start[read] <= LONGEST_SPAN * length;
      if (bases < MOST_BASES && isShort) {
        this.#judge(block.differences(read, await this.reference.fetch(block.chrom, start[read], end[read])));
      }
      bases += length;
    }
    if (this.judged >= FEWEST_READS && 2 * this.wrong > this.judged) await this.#stop();
  }

  /** @param {{compared: number, differing: number}} bases of a read */
  #judge({ compared, differing }) {
    if (compared < FEWEST_BASES) return;
    this.judged++;
    this.wrong += Number(differing > WRONG_SHARE * compared);
  }

  /** Most reads disagree. If the checksum confirms the reference, that is only announced. */
  async #stop() {
    const { path } = this.reference;
    const share = Math.round((100 * this.wrong) / this.judged);
    const rule = `${share}% of the reads that were looked at disagree with it`;
    if (this.checksums.has(this.chrom) && (await this.#sumsAgree())) {
      this.warn(`${path}: contig ${this.chrom}: ${rule}, although it is the one they were aligned to`);
      this.isSettled = true;
      return;
    }
    throw new InputProblem(path, `contig ${this.chrom}`, rule, CURE);
  }
}
