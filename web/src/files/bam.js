// BAM files: their header, their index, and their records as unpacked bytes (pairhmm/alignments/bam_records.py).

import { blocksFrom, DamagedBlock, isBlock } from "./bgzf.js";
import { openBamIndex } from "./index.js";
import { InputProblem } from "./problem.js";

/** @import { Native } from "../cpu/native.js" */
/** @import { Batch } from "./bgzf.js" */
/** @import { BamIndex, Place } from "./bam_index.js" */
/** @import { Source, SourceFile } from "./sources.js" */
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
    const found = await readHeader(file, native);
    if (!found) return null;
    const opened = index === undefined ? null : await openBamIndex(index, file, found.header, found.first);
    return new Bam(file, found.header, found.first, opened);
  }

  get hasIndex() {
    return this.index !== null;
  }

  /** Mapped reads of a contig by the index, 0 in older ones; null without an index. @param {number} tid */
  mappedReads(tid) {
    return this.index && (this.index.reads.get(tid)?.mapped ?? 0);
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
    for (const { begin, behind } of /** @type {BamIndex} */ (this.index).places(tid, start, end)) {
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
    const { value: first } = await this.batches.next();
    if (!first) {
      if (left.length) throw new DamagedBlock("the file ends within a record");
      return false;
    }
    // They are joined once for each record, since a long one, or a damaged size, takes many batches.
    const batches = [first];
    let size = left.length + first.data.length;
    for (const wanted = endOfRecord(left); size < wanted;) {
      const { value: batch } = await this.batches.next();
      if (!batch) break;
      batches.push(batch);
      size += batch.data.length;
    }
    if (this.limit >= 0) this.limit -= skipped;
    const data = new Uint8Array(size);
    data.set(left);
    let at = left.length;
    for (const batch of batches) {
      data.set(batch.data, at);
      if (this.behind && this.limit < 0) this.limit = limitWithin(batch, at, this.behind);
      at += batch.data.length;
    }
    this.data = data;
    if (!this.isFirst) this.at = 0;
    this.isFirst = false;
    if (this.at > data.length) throw new DamagedBlock("no read begins where the index says");
    return true;
  }
}

/** Where the first record ends, which the bytes may not reach; 0 if they do not tell. @param {Uint8Array} data */
function endOfRecord(data) {
  return data.length < 4 ? 0 : 4 + new DataView(data.buffer, data.byteOffset).getInt32(0, true);
}

/** Where no more records begin among the bytes of a batch from `at` on; -1 where the place is not in it. @param {Batch} batch @param {number} at @param {Place} behind */
function limitWithin({ addresses, begins }, at, { block, within }) {
  const index = addresses.findIndex((/** @type {number} */ address) => address >= block);
  return index < 0 ? -1 : at + begins[index] + (addresses[index] === block ? within : 0);
}

/** @typedef {{parse: (data: Uint8Array, at: number, limit: number, room: number) => {stop: typeof STOPS[number], at: number}}} Parser */

/** @param {SourceFile} file @param {Native} native */
async function readHeader(file, native) {
  /** @type {Uint8Array[]} */
  const pieces = [];
  /** @type {{address: number, begin: number}[]} */
  const blocks = [];
  let [held, tried] = [0, 0];
  const found = () => {
    tried = held;
    const data = new Uint8Array(held);
    pieces.reduce((at, piece) => (data.set(piece, at), at + piece.length), 0);
    pieces.splice(0, pieces.length, data);
    if (String.fromCharCode(...data.subarray(0, 4)) !== "BAM\x01") return null;
    const size = native.with((arrays) => native.call.bam_header_size(arrays.pass(data), data.length));
    if (size <= 0) return size < 0 ? null : undefined;
    const block = blocks.findLast((one) => one.begin <= size) ?? blocks[0];
    return { header: parsedHeader(data, file.name), first: { block: block.address, within: size - block.begin } };
  };
  try {
    for await (const { addresses, begins, data } of blocksFrom(file, 0, 0)) {
      addresses.forEach((address, index) => blocks.push({ address, begin: held + begins[index] }));
      pieces.push(data);
      held += data.length;
      // A damaged size would have the rest of the file looked at again with every block.
      if (held < 2 * tried) continue;
      const header = found();
      if (header !== undefined) return header;
    }
  } catch (error) {
    if (!(error instanceof DamagedBlock)) throw error;
  }
  return found() ?? null;
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
    lengths.push(view.getUint32(at + 4 + size, true));
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
