// The parser of BAM records, which filters and unpacks them (cpu/formats/alignments.hpp).

import { ReadBlock } from "../genomics/blocks.js";
import { joined, offsets } from "../genomics/arrays.js";
import { Names } from "../genomics/names.js";
import { sampleOf } from "./alignments.js";
import { STOPS } from "./bam.js";
import { InputProblem } from "./problem.js";
import { JUMP, REASONS } from "./selection.js";

/** @typedef {import("../genomics/native.js").Native} Native */
/** @typedef {import("./alignments.js").OpenAlignments} OpenAlignments */
/** @typedef {import("./intervals.js").Interval} Interval */
/** @typedef {{excludedFlags: number, minMapq: number, defaultBaseQuality: number | null, indelTags: boolean}} ReadSelection */

// The fields of a BlockView (cpu/wasm/alignments.cpp), a pointer and a count each.
const FIELDS = /** @type {const} */ ([
  "nameEnd",
  "sample",
  "flag",
  "mapq",
  "start",
  "end",
  "baseOffset",
  "bases",
  "quals",
  "insertion",
  "deletion",
  "cigarOffset",
  "cigar",
  "names",
  "odd",
  "groups",
  "groupEnd",
]);
const UNMAPPED = 4;
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
    this.pointer = native.with((arrays) =>
      native.call.alignments_make(
        arrays.struct([
          names.length,
          arrays.pass(Int32Array.from(names, (name) => (known.has(name) ? (rank.get(name) ?? -1) : -1))),
          arrays.pass(Int32Array.from(lengths)),
          // Unmapped reads are never used, whatever flags were asked for.
          selection.excludedFlags | UNMAPPED,
          selection.minMapq,
          selection.defaultBaseQuality ?? -1,
          groups.length,
          arrays.pass(groups.length ? joined(groups) : new Uint8Array(0)),
          arrays.pass(ends),
          arrays.pass(Int32Array.from(source.sampleOfGroup.values())),
          source.defaultSample ?? -1,
          JUMP,
          Number(selection.indelTags),
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
    const { native } = this;
    return native.with((arrays) => {
      const view = arrays.room(4 + 8 * FIELDS.length);
      const block = native.call.alignments_take(this.pointer, view);
      const numbers = new Int32Array(native.buffer, view, 1 + 2 * FIELDS.length);
      const contig = numbers[0];
      /** @type {Record<string, [number, number]>} */
      const at = Object.fromEntries(FIELDS.map((name, i) => [name, [numbers[1 + 2 * i], numbers[2 + 2 * i]]]));
      /** @param {typeof FIELDS[number]} name */
      const low = (name) => {
        // The low halves of 64-bit numbers.
        const [pointer, count] = at[name];
        const wide = new Uint32Array(native.buffer, pointer, 2 * count);
        const narrow = new Uint32Array(count);
        for (let i = 0; i < count; i++) narrow[i] = wide[2 * i];
        return narrow;
      };
      /** @template {Uint8Array | Uint16Array | Int32Array | Uint32Array} Kind @param {{new (buffer: ArrayBuffer, at: number, count: number): Kind}} kind @param {typeof FIELDS[number]} name */
      const plain = (kind, name) => arrays.read(kind, at[name][0], at[name][1]);
      const read = new ReadBlock({
        chrom: contig < 0 ? "" : this.contigs[contig],
        names: new Names(plain(Uint8Array, "names"), withZero(low("nameEnd"))),
        sample: plain(Int32Array, "sample"),
        flag: plain(Uint16Array, "flag"),
        mapq: plain(Uint8Array, "mapq"),
        start: Int32Array.from(low("start")),
        end: Int32Array.from(low("end")),
        baseOffset: low("baseOffset"),
        bases: plain(Uint8Array, "bases"),
        quals: plain(Uint8Array, "quals"),
        insertion: plain(Uint8Array, "insertion"),
        deletion: plain(Uint8Array, "deletion"),
        cigarOffset: low("cigarOffset"),
        cigar: plain(Uint32Array, "cigar"),
      });
      const groups = new Names(plain(Uint8Array, "groups"), withZero(low("groupEnd")));
      const odd = low("odd");
      native.call.alignments_block_free(block);
      odd.forEach((one, index) => this.#settle(read, one, groups, index));
      return read;
    });
  }

  /**
   * Checks a read's name, and finds the sample of its read group.
   *
   * @param {ReadBlock} block
   * @param {number} read
   * @param {Names} groups types and values
   * @param {number} index
   */
  #settle(block, read, groups, index) {
    const { offset, text } = block.names;
    const name = readName(
      this.source.path,
      text.subarray(offset[read], offset[read + 1]),
      block.chrom,
      block.start[read],
    );
    if (block.sample[read] >= 0) return;
    const value = groups.text.subarray(groups.offset[index], groups.offset[index + 1]);
    block.sample[read] = sampleOf(this.source, groupText(this.source.path, name, value), name);
  }
}

/** @param {Uint32Array} ends */
function withZero(ends) {
  const all = new Uint32Array(ends.length + 1);
  all.set(ends, 1);
  return all;
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
