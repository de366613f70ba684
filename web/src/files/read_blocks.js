// Blocks of reads of all inputs, in coordinate order (pairhmm/alignments/read_blocks.py and native_reader.py).

import { cutOff } from "./alignments.js";
import { AlignmentParser } from "./alignment_parser.js";
import { DamagedBlock } from "./bgzf.js";
import { rankOf } from "./intervals.js";
import { mergedBlocks } from "./merged_blocks.js";
import { ELSEWHERE } from "./selection.js";

/** @import { Native } from "../cpu/native.js" */
/** @import { OpenAlignments } from "./alignments.js" */
/** @import { ReadSelection } from "./alignment_parser.js" */
/** @typedef {import("./bam.js").Records | import("./cram.js").CramRecords} Records */
/** @import { Interval } from "./intervals.js" */
/** @import { ReadBlock } from "./read_block.js" */
/** @import { LeftOut } from "./selection.js" */
/** @typedef {AsyncGenerator<ReadBlock, string>} Blocks blocks, and in the end why there are no more */

/**
 * @typedef {object} ReadRequest
 * @property {string[]} contigs in the order of the inputs
 * @property {ReadSelection} selection
 * @property {number} chunkSize reads a block
 * @property {Interval[] | null} regions disjoint and in order; only reads that overlap one are read, through the index
 */

const GOALS = 4096;
// Bases. An index leads to the start of a window of 16,384 bases.
const NEAR = 8192;
const BEFORE_ALL = -1 << 31;

/**
 * @param {Native} native
 * @param {OpenAlignments[]} inputs
 * @param {ReadRequest} request
 * @param {(() => AsyncIterator<Interval>) | null} wanted disjoint and in order: other reads are passed over
 * @param {LeftOut} leftOut
 * @returns {AsyncGenerator<ReadBlock>}
 */
export async function* readBlocks(native, inputs, request, wanted, leftOut) {
  const rank = rankOf(request.contigs);
  const streams = inputs.map((source) =>
    new SourceReader(native, source, request, rank, wanted?.() ?? null, leftOut).read(),
  );
  for await (const block of streams.length === 1 ? streams[0] : mergedBlocks(streams, rank)) {
    leftOut.hasUsed = true;
    yield block;
  }
}

/** Reads one file: whole, by regions, or with jumps ahead. */
class SourceReader {
  /**
   * @param {Native} native
   * @param {OpenAlignments} source
   * @param {ReadRequest} request
   * @param {Map<string, number>} rank
   * @param {AsyncIterator<Interval> | null} wanted
   * @param {LeftOut} leftOut
   */
  constructor(native, source, request, rank, wanted, leftOut) {
    this.source = source;
    this.request = request;
    this.rank = rank;
    this.wanted = wanted;
    this.leftOut = leftOut;
    this.known = new Set(source.contigs);
    this.tid = rankOf(source.file.header.names);
    this.parser = new AlignmentParser(native, source, request.contigs, rank, request.selection);
    const hasIndex = source.file.hasIndex && request.regions === null;
    this.canJump = wanted !== null && hasIndex;
    this.leavesContigs = hasIndex && source.contigs.length < source.file.header.names.length;
  }

  /** @returns {AsyncGenerator<ReadBlock>} */
  async *read() {
    try {
      yield* this.#blocks();
      if (this.parser.reads) yield this.parser.take();
    } catch (error) {
      if (!(error instanceof DamagedBlock)) throw error;
      this.parser.take();
      throw cutOff(this.source);
    } finally {
      this.#count();
      this.parser.release();
    }
  }

  #count() {
    for (const [reason, count] of this.parser.leftOut()) this.leftOut.add(reason, count);
    this.leftOut.addBegun(this.parser.begun());
    if (this.parser.hasMet) this.leftOut.hasMet = true;
    if (!this.leavesContigs) return;
    for (const [name, tid] of this.tid) {
      if (!this.known.has(name)) this.leftOut.add(ELSEWHERE, this.source.file.mappedReads(tid) ?? 0);
    }
  }

  /** @returns {Blocks} */
  async *#blocks() {
    // A parser without goals would take every read. One whose goals have run out stops at the first read.
    if (this.wanted && !(await this.#moreGoals(this.wanted))) this.parser.setGoals([], this.rank);
    if (this.request.regions) return yield* this.#byRegion(this.request.regions);
    if (this.canJump || this.leavesContigs) return yield* this.#byContig();
    return yield* this.#through(this.source.file.whole());
  }

  /** @param {Interval[]} regions @returns {Blocks} */
  async *#byRegion(regions) {
    let before = { chrom: "", end: 0 };
    for (const near of neighbours(regions.filter((one) => this.known.has(one.chrom)))) {
      const [{ chrom, start }, { end }] = [near[0], near[near.length - 1]];
      const tid = /** @type {number} */ (this.tid.get(chrom));
      // A read that also overlaps the last region was already given with that region.
      const seen = before.chrom === chrom ? before.end - 1 : BEFORE_ALL;
      this.parser.setWindow({ tid, start, end, seen, parts: near, mayJump: false });
      yield* this.#through(this.source.file.throughIndex(tid, start, end));
      before = { chrom, end };
    }
    return "more";
  }

  /** @returns {Blocks} */
  async *#byContig() {
    const { contigs, file } = this.source;
    let [position, start, seen] = [0, 0, -1];
    while (position < contigs.length) {
      const tid = /** @type {number} */ (this.tid.get(contigs[position]));
      this.parser.setWindow({ tid, start, end: -1, seen, parts: [], mayJump: this.canJump });
      const stop = yield* this.#through(file.throughIndex(tid, start, file.header.lengths[tid]));
      if (stop === "goals") break;
      if (stop === "jump") {
        // A read that was given before the jump may overlap the target, too. It is not given again.
        const goal = this.parser.goal();
        seen = goal.chrom === contigs[position] ? goal.last : -1;
        [position, start] = [contigs.indexOf(goal.chrom), goal.start];
      } else {
        [position, start, seen] = [position + 1, 0, -1];
      }
    }
    return "more";
  }

  /** @param {AsyncIterable<Records>} places @returns {Blocks} */
  async *#through(places) {
    for await (const records of places) {
      const stop = yield* this.#run(records);
      if (stop !== "more") return stop;
    }
    return "more";
  }

  /** @param {Records} records @returns {Blocks} */
  async *#run(records) {
    for (;;) {
      const stop = await records.parse(this.parser, this.request.chunkSize);
      if (stop === "full") yield this.parser.take();
      else if (stop === "damaged") throw new DamagedBlock("a damaged record");
      else if (stop === "unsorted" || stop === "no qualities" || stop === "wrong indel tags") {
        this.parser.take();
        throw this.parser.refusal(stop);
      } else if (stop !== "goals" || !this.wanted || !(await this.#moreGoals(this.wanted))) return stop;
    }
  }

  /** @param {AsyncIterator<Interval>} wanted */
  async #moreGoals(wanted) {
    /** @type {Interval[]} */
    const goals = [];
    while (goals.length < GOALS) {
      const { value, done } = await wanted.next();
      if (done) break;
      if (this.known.has(value.chrom)) goals.push(value);
    }
    if (goals.length) this.parser.setGoals(goals, this.rank);
    return goals.length > 0;
  }
}

/** Runs of nearby regions. @param {Interval[]} regions */
function neighbours(regions) {
  /** @type {Interval[][]} */
  const runs = [];
  for (const region of regions) {
    const last = runs.at(-1)?.at(-1);
    if (last && last.chrom === region.chrom && region.start - last.end <= NEAR) runs.at(-1)?.push(region);
    else runs.push([region]);
  }
  return runs;
}
