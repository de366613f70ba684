// The parser of BAM records, which filters and unpacks them (cpu/formats/alignments.hpp).

import { joined, offsets } from "../arrays.js";
import { sampleOf } from "./alignments.js";
import { STOPS } from "./bam.js";
import { checkNames } from "./names.js";
import { InputProblem } from "./problem.js";
import { ReadBlock } from "./read_block.js";
import { JUMP, REASONS } from "./selection.js";

/** @import { Native } from "../cpu/native.js" */
/** @import { OpenAlignments } from "./alignments.js" */
/** @import { Interval } from "./intervals.js" */
/** @import { Primer } from "./primers.js" */
/** @typedef {{excludedFlags: number, minMapq: number, defaultBaseQuality: number | null, indelTags: boolean, trimsEnds: boolean, primers: Primer[] | null, circular: string[]}} ReadSelection */

const UNMAPPED = 4;
const HIGHEST_QUALITY = 127;
// The type Z of a tag.
const TEXT = 90;

/** Filters and unpacks the records of one file. */
export class AlignmentParser {
  /**
   * @param {Native} native
   * @param {OpenAlignments} source
   * @param {string[]} contigs in the order of the run
   * @param {Map<string, number>} rank
   * @param {ReadSelection} selection
   */
  constructor(native, source, contigs, rank, selection) {
    this.native = native;
    this.source = source;
    this.contigs = contigs;
    const { names, lengths } = source.file.header;
    const known = new Set(source.contigs);
    const groups = [...source.sampleOfGroup.keys()].map((name) => new TextEncoder().encode(name));
    const ends = offsets(groups.map((name) => name.length)).subarray(1);
    const primers = (selection.primers ?? []).filter(({ chrom }) => names.includes(chrom));
    this.pointer = native.with((arrays) =>
      native.call.alignments_make(
        arrays.struct([
          names.length,
          arrays.pass(Int32Array.from(names, (name) => (known.has(name) ? (rank.get(name) ?? -1) : -1))),
          arrays.pass(Int32Array.from(lengths)),
          arrays.pass(Int32Array.from(names, (name) => Number(selection.circular.includes(name)))),
          // Unmapped reads are never used, whatever flags were asked for.
          selection.excludedFlags | UNMAPPED,
          selection.minMapq,
          selection.defaultBaseQuality ?? -1,
          HIGHEST_QUALITY,
          groups.length,
          arrays.pass(groups.length ? joined(groups) : new Uint8Array(0)),
          arrays.pass(ends),
          arrays.pass(Int32Array.from(source.sampleOfGroup.values())),
          source.defaultSample ?? -1,
          JUMP,
          Number(selection.indelTags),
          Number(selection.trimsEnds),
          primers.length,
          arrays.pass(Int32Array.from(primers, ({ chrom }) => names.indexOf(chrom))),
          arrays.pass(Int32Array.from(primers, ({ start }) => start)),
          arrays.pass(Int32Array.from(primers, ({ end }) => end)),
          arrays.pass(Int32Array.from(primers, ({ isReverse }) => Number(isReverse))),
        ]),
      ),
    );
  }

  release() {
    this.native.call.alignments_free(this.pointer);
  }

  /**
   * The records that follow are those of an index, from which those of the window are taken.
   *
   * @param {{tid: number, start: number, end: number, seen: number, parts: Interval[], mayJump: boolean}} window
   *   an `end` of -1: none
   */
  setWindow({ tid, start, end, seen, parts, mayJump }) {
    this.native.with((arrays) =>
      this.native.call.alignments_set_window(
        this.pointer,
        tid,
        start,
        end,
        seen,
        parts.length,
        arrays.pass(Int32Array.from(parts, (one) => one.start)),
        arrays.pass(Int32Array.from(parts, (one) => one.end)),
        Number(mayJump),
      ),
    );
  }

  /** Further wanted intervals, disjoint and in order. @param {Interval[]} goals @param {Map<string, number>} rank */
  setGoals(goals, rank) {
    this.native.with((arrays) =>
      this.native.call.alignments_set_goals(
        this.pointer,
        goals.length,
        arrays.pass(Int32Array.from(goals, (one) => rank.get(one.chrom) ?? -1)),
        arrays.pass(Int32Array.from(goals, (one) => one.start)),
        arrays.pass(Int32Array.from(goals, (one) => one.end)),
      ),
    );
  }

  /** @param {Uint8Array} data @param {number} at @param {number} limit @param {number} room */
  parse(data, at, limit, room) {
    return this.native.with((arrays) => {
      const place = arrays.pass(Uint32Array.of(at));
      const bytes = arrays.pass(data);
      const stop = this.native.call.alignments_parse(this.pointer, bytes, data.length, place, limit, room);
      return { stop: STOPS[stop], at: arrays.read(Uint32Array, place, 1)[0] };
    });
  }

  /** Reads in the block. */
  get reads() {
    return this.native.call.alignments_reads(this.pointer);
  }

  get hasMet() {
    return this.native.call.alignments_has_met(this.pointer) !== 0;
  }

  /** Reads that were left out, by reason. @returns {[string, number][]} */
  leftOut() {
    const counts = this.native.taken(this.native.call.alignments_left_out(this.pointer));
    return REASONS.map((reason, index) => [reason, counts[index]]);
  }

  /** Of reads on contigs with primers: how many begin in none, and in one. */
  begun() {
    return this.native.taken(this.native.call.alignments_begun(this.pointer));
  }

  /** After a stop for a jump: the contig and position to go on at, and where the last read starts. */
  goal() {
    const [contig, start, last] = this.native.taken(this.native.call.alignments_goal(this.pointer));
    return { chrom: this.contigs[contig], start, last };
  }

  /** The problem of the record that the parser stopped at. @param {string} stop */
  refusal(stop) {
    const [contig, start, ...letters] = this.native.taken(this.native.call.alignments_place(this.pointer));
    const name = readName(this.source.path, Uint8Array.from(letters), this.contigs[contig], start);
    const { path } = this.source;
    if (stop === "unsorted") {
      return new InputProblem(path, `read ${name}`, "the file is not sorted by coordinate", "run samtools sort");
    }
    if (stop === "wrong indel tags") {
      const rule = "its tags BI and BD are not a quality for each base";
      return new InputProblem(path, `read ${name}`, rule, "repair them, or give --no-indel-tags");
    }
    return new InputProblem(path, `read ${name}`, "it has no base qualities", "give --default-base-quality");
  }

  /** The reads that were taken since the last block. @returns {ReadBlock} */
  take() {
    const block = new ReadBlock(this.native, this.native.call.alignments_take(this.pointer), this.contigs);
    const { odd, sample } = block;
    const start = odd.length ? block.start : [];
    for (const { read, name: bytes, group } of odd) {
      const name = readName(this.source.path, bytes, block.chrom, start[read]);
      if (sample[read] >= 0) continue;
      sample[read] = sampleOf(this.source, groupText(this.source.path, name, group), name);
    }
    if (block.unfit) throw this.#unfit(block.unfit);
    return block;
  }

  /** The problem of a read that tables and our C++ can't take. @param {NonNullable<ReadBlock["unfit"]>} read */
  #unfit({ name, quality, spelled, bases }) {
    const { path } = this.source;
    const cure = "repair or remove the read";
    checkNames(path, "read", [name], cure);
    const ofQuality = `a base quality of ${quality}, the highest is ${HIGHEST_QUALITY}`;
    const rule = quality > HIGHEST_QUALITY ? ofQuality : `its CIGAR spells ${spelled} bases, it has ${bases}`;
    return new InputProblem(path, `read ${name}`, rule, cure);
  }
}

/** @param {string} path @param {Uint8Array} name @param {string} chrom @param {number} start */
function readName(path, name, chrom, start) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(name) || "*";
  } catch {
    const place = `a read at ${chrom}:${start + 1}`;
    throw new InputProblem(path, place, "its name is not text", "it is damaged: make it again");
  }
}

/** The text of a tag's type and value; empty where it is no text. @param {string} path @param {string} name @param {Uint8Array} value */
function groupText(path, name, value) {
  if (value[0] !== TEXT) return "";
  const end = value.indexOf(0);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      value.subarray(1, end < 0 ? undefined : end),
    );
  } catch {
    throw new InputProblem(path, `read ${name}`, "its read group is not text", "run samtools addreplacerg");
  }
}
