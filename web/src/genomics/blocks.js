// Many aligned reads as a few flat arrays, as our C++ takes them (pairhmm/alignments/blocks.py).

import { gather, joined, offsets } from "./arrays.js";
import { joinedOffsets, Names } from "./names.js";

/** @typedef {import("./native.js").Arrays} Arrays */

/**
 * Aligned reads of one contig, in order of start. All coordinates are 0-based half-open.
 *
 * @typedef {object} Fields
 * @property {string} chrom
 * @property {Names} names
 * @property {Int32Array} sample index into the list of samples
 * @property {Uint16Array} flag SAM flags
 * @property {Uint8Array} mapq
 * @property {Int32Array} start
 * @property {Int32Array} end
 * @property {Uint32Array} baseOffset where each read's bases and qualities begin
 * @property {Uint8Array} bases codes, soft clips included; those above 4 are ambiguous
 * @property {Uint8Array} quals Phred
 * @property {Uint8Array} insertion Phred, of reads that have indel qualities of their own (tags BI and BD), and
 *   `NO_INDEL_QUALITY` of the others; empty where no read has them
 * @property {Uint8Array} deletion likewise
 * @property {Uint32Array} cigarOffset
 * @property {Uint32Array} cigar as in BAM: length << 4 | operation
 */

/** In place of the insertion and deletion qualities of reads that have none of their own. */
export const NO_INDEL_QUALITY = 255;

/** Aligned reads of one contig, in order of start. */
export class ReadBlock {
  /** @param {Fields} fields */
  constructor(fields) {
    this.chrom = fields.chrom;
    this.names = fields.names;
    this.sample = fields.sample;
    this.flag = fields.flag;
    this.mapq = fields.mapq;
    this.start = fields.start;
    this.end = fields.end;
    this.baseOffset = fields.baseOffset;
    this.bases = fields.bases;
    this.quals = fields.quals;
    this.insertion = fields.insertion;
    this.deletion = fields.deletion;
    this.cigarOffset = fields.cigarOffset;
    this.cigar = fields.cigar;
  }

  get length() {
    return this.start.length;
  }

  static empty(chrom = "") {
    const none = new Uint8Array(0);
    return new ReadBlock({
      chrom,
      names: new Names(none, new Uint32Array(1)),
      sample: new Int32Array(0),
      flag: new Uint16Array(0),
      mapq: none,
      start: new Int32Array(0),
      end: new Int32Array(0),
      baseOffset: new Uint32Array(1),
      bases: none,
      quals: none,
      insertion: none,
      deletion: none,
      cigarOffset: new Uint32Array(1),
      cigar: new Uint32Array(0),
    });
  }

  /** One block of the reads of several, which follow each other on one contig. @param {ReadBlock[]} blocks */
  static concatenate(blocks) {
    const some = blocks.filter((block) => block.length);
    if (some.length < 2) return some[0] ?? blocks[blocks.length - 1];
    return new ReadBlock({
      chrom: some[0].chrom,
      names: Names.concatenate(some.map((block) => block.names)),
      sample: joined(some.map((block) => block.sample)),
      flag: joined(some.map((block) => block.flag)),
      mapq: joined(some.map((block) => block.mapq)),
      start: joined(some.map((block) => block.start)),
      end: joined(some.map((block) => block.end)),
      baseOffset: joinedOffsets(some.map((block) => block.baseOffset)),
      bases: joined(some.map((block) => block.bases)),
      quals: joined(some.map((block) => block.quals)),
      insertion: joinedIndelQualities(some, "insertion"),
      deletion: joinedIndelQualities(some, "deletion"),
      cigarOffset: joinedOffsets(some.map((block) => block.cigarOffset)),
      cigar: joined(some.map((block) => block.cigar)),
    });
  }

  /** The reads at some indices, in that order. @param {Uint32Array} indices */
  take(indices) {
    /** @param {Uint32Array} offset */
    const starts = (offset) => indices.map((read) => offset[read]);
    /** @param {Uint32Array} offset */
    const lengths = (offset) => indices.map((read) => offset[read + 1] - offset[read]);
    const baseOffset = offsets(lengths(this.baseOffset));
    const cigarOffset = offsets(lengths(this.cigarOffset));
    return new ReadBlock({
      chrom: this.chrom,
      names: this.names.take(indices),
      sample: Int32Array.from(indices, (read) => this.sample[read]),
      flag: Uint16Array.from(indices, (read) => this.flag[read]),
      mapq: Uint8Array.from(indices, (read) => this.mapq[read]),
      start: Int32Array.from(indices, (read) => this.start[read]),
      end: Int32Array.from(indices, (read) => this.end[read]),
      baseOffset,
      bases: gather(this.bases, starts(this.baseOffset), baseOffset),
      quals: gather(this.quals, starts(this.baseOffset), baseOffset),
      ...this.indelSlices(starts(this.baseOffset), baseOffset),
      cigarOffset,
      cigar: gather(this.cigar, starts(this.cigarOffset), cigarOffset),
    });
  }

  /** Slices of the indel qualities, as `gather` makes them. @param {Uint32Array} starts @param {Uint32Array} target */
  indelSlices(starts, target) {
    const { insertion, deletion } = this;
    if (!insertion.length) return { insertion, deletion };
    return { insertion: gather(insertion, starts, target), deletion: gather(deletion, starts, target) };
  }

  /** The block in the module's memory: a GivenReads (cpu/wasm/candidates.cpp). @param {Arrays} arrays */
  passed(arrays) {
    return arrays.struct([
      this.length,
      arrays.pass(this.start),
      arrays.pass(this.sample),
      arrays.pass(this.baseOffset),
      arrays.pass(this.bases),
      arrays.pass(this.quals),
      arrays.pass(this.cigarOffset),
      arrays.pass(this.cigar),
    ]);
  }
}

/** @param {ReadBlock[]} blocks @param {"insertion" | "deletion"} name */
function joinedIndelQualities(blocks, name) {
  if (blocks.every((block) => !block[name].length)) return new Uint8Array(0);
  return joined(
    blocks.map((block) =>
      block[name].length ? block[name] : new Uint8Array(block.bases.length).fill(NO_INDEL_QUALITY),
    ),
  );
}
