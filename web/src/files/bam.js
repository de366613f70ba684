// BAM files: their header, their index, and their records as unpacked bytes (pairhmm/io/alignments/unpacked_bam.py).

import { BamIndex } from "./bam_index.js";
import { blocksFrom, DamagedBlock, hasEndMarker, isBlock } from "./bgzf.js";
import { InputProblem } from "./problem.js";

/** @typedef {import("../genomics/native.js").Native} Native */
/** @typedef {import("./bgzf.js").Batch} Batch */
/** @typedef {import("./bam_index.js").Place} Place */
/** @typedef {import("./sources.js").Source} Source */
/** @typedef {import("./sources.js").SourceFile} SourceFile */
/** @typedef {{names: string[], lengths: number[], text: string}} Header */

/** What an AlignmentParser stops for (cpu/formats/alignments.hpp). */
export const STOPS = /** @type {const} */ ([
  "more",
  "full",
  "window's end",
  "goals",
  "jump",
  "damaged",
  "unsorted",
  "no qualities",
  "wrong indel tags",
]);

/** A BAM file. */
export class Bam {
  /** @param {SourceFile} file @param {Header} header @param {Place} first @param {BamIndex | null} index */
  constructor(file, header, first, index) {
    this.file = file;
    this.header = header;
    this.first = first;
    this.index = index;
  }

  /** Whether a file with these first bytes can be a BAM. @param {Uint8Array} head */
  static mayBe(head) {
    return isBlock(head);
  }

  /**
   * @param {SourceFile} file
   * @param {Source | undefined} index
   * @param {Native} native
   * @returns {Promise<Bam | null>} null where it is no BAM
   */
  static async open(file, index, native) {
    if (!(await hasEndMarker(file))) {
      throw new InputProblem(file.name, "", "is cut off: its end marker is missing", "copy or make it again");
    }
    const found = await readHeader(file, native);
    if (!found) return null;
    const opened = index === undefined ? null : await BamIndex.open(index, file, found.header, found.first);
    return new Bam(file, found.header, found.first, opened);
  }

  get hasIndex() {
    return this.index !== null;
  }

  /** Whether `mappedReads` knows. */
  get countsReads() {
    return this.index !== null;
  }

  /** Mapped reads of a contig by the index; 0 where that does not know. @param {number} tid */
  async mappedReads(tid) {
    return this.index ? this.index.mappedReads(tid) : 0;
  }

  /** All records. @returns {AsyncGenerator<Records>} */
  async *whole() {
    yield new Records(blocksFrom(this.file, this.first.block), this.first, null);
  }

  /**
   * The records that overlap [start, end) of a contig, and others that lie beside them.
   *
   * @param {number} tid
   * @param {number} start
   * @param {number} end
   * @returns {AsyncGenerator<Records>}
   */
  async *throughIndex(tid, start, end) {
    for (const { begin, behind } of await /** @type {BamIndex} */ (this.index).places(tid, start, end)) {
      yield new Records(blocksFrom(this.file, begin.block, behind.block), begin, behind);
    }
  }
}

/**
 * Unpacked records, of which the front is given up as they are taken.
 */
export class Records {
  /** @param {AsyncIterator<Batch>} batches from the block at `begin` on @param {Place} begin @param {Place | null} behind */
  constructor(batches, begin, behind) {
    this.batches = batches;
    this.behind = behind;
    this.data = new Uint8Array(0);
    this.at = begin.within;
    this.limit = -1;
    this.isFirst = true;
  }

  /**
   * Lets a parser take records until it stops. "more" is the end of the records.
   *
   * @param {Parser} parser
   * @param {number} room
   */
  async parse(parser, room) {
    if (this.isFirst) await this.#extend();
    for (;;) {
      const limit = this.limit < 0 ? this.data.length : Math.min(this.limit, this.data.length);
      const found = parser.parse(this.data, this.at, limit, room);
      this.at = found.at;
      const isDone = this.limit >= 0 && this.limit <= this.at;
      if (found.stop !== "more" || isDone || !(await this.#extend())) return found.stop;
    }
  }

  async #extend() {
    const skipped = this.isFirst ? 0 : this.at;
    const left = this.data.subarray(skipped);
    const { value: batch } = await this.batches.next();
    if (!batch) {
      if (left.length) throw new DamagedBlock("the file ends within a record");
      return false;
    }
    if (this.limit >= 0) this.limit -= skipped;
    if (this.behind && this.limit < 0) {
      const { block, within } = this.behind;
      const index = batch.addresses.findIndex((/** @type {number} */ address) => address >= block);
      if (index >= 0) this.limit = left.length + batch.begins[index] + (batch.addresses[index] === block ? within : 0);
    }
    const data = new Uint8Array(left.length + batch.data.length);
    data.set(left);
    data.set(batch.data, left.length);
    this.data = data;
    if (!this.isFirst) this.at = 0;
    this.isFirst = false;
    if (this.at > data.length) throw new DamagedBlock("no read begins where the index says");
    return true;
  }
}

/** @typedef {{parse: (data: Uint8Array, at: number, limit: number, room: number) => {stop: typeof STOPS[number], at: number}}} Parser */

/** @param {SourceFile} file @param {Native} native */
async function readHeader(file, native) {
  let data = new Uint8Array(0);
  /** @type {{address: number, begin: number}[]} */
  const blocks = [];
  try {
    for await (const batch of blocksFrom(file, 0, 0)) {
      batch.addresses.forEach((address, index) => blocks.push({ address, begin: data.length + batch.begins[index] }));
      const more = new Uint8Array(data.length + batch.data.length);
      more.set(data);
      more.set(batch.data, data.length);
      data = more;
      if (String.fromCharCode(...data.subarray(0, 4)) !== "BAM\x01") return null;
      const size = native.with((arrays) => native.call.bam_header_size(arrays.pass(data), data.length));
      if (size < 0) return null;
      if (size > 0) {
        const block = blocks.findLast((one) => one.begin <= size) ?? blocks[0];
        return { header: parsedHeader(data, file.name), first: { block: block.address, within: size - block.begin } };
      }
    }
  } catch (error) {
    if (!(error instanceof DamagedBlock)) throw error;
  }
  return null;
}

/** @param {Uint8Array} data a whole header @param {string} path @returns {Header} */
function parsedHeader(data, path) {
  const view = new DataView(data.buffer, data.byteOffset);
  let at = 8 + view.getInt32(4, true);
  const text = headerText(data.subarray(8, at), path).replace(/\0+$/, "");
  const count = view.getInt32(at, true);
  at += 4;
  const names = [];
  const lengths = [];
  for (let i = 0; i < count; i++) {
    const size = view.getInt32(at, true);
    names.push(headerText(data.subarray(at + 4, at + 3 + size), path));
    lengths.push(view.getInt32(at + 4 + size, true));
    at += 8 + size;
  }
  return { names, lengths, text };
}

/** @param {Uint8Array} bytes of a header @param {string} path */
function headerText(bytes, path) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new InputProblem(path, "", "its header is not UTF-8", "mend it with samtools reheader");
  }
}
