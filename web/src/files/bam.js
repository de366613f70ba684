// BAM files: their header, their index, and their records as unpacked bytes (pairhmm/io/alignments/unpacked_bam.py).

import { BAI, CSI } from "@gmod/bam";

import { blocksFrom, DamagedBlock, hasEndMarker, isBlock } from "./bgzf.js";
import { InputProblem } from "./problem.js";
import { SourceFile } from "./sources.js";

/** @typedef {import("../genomics/native.js").Native} Native */
/** @typedef {import("./bgzf.js").Batch} Batch */
/** @typedef {import("./sources.js").Source} Source */
/** @typedef {{block: number, within: number}} Place a block's address, and a place among its unpacked bytes */
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
    const opened = index === undefined ? null : await BamIndex.open(index, file, found.header);
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

/** The index of a BAM file: .bai or .csi. */
class BamIndex {
  /** @param {BAI | CSI} index @param {SourceFile} file */
  constructor(index, file) {
    this.index = index;
    this.file = file;
  }

  /** @param {Source} source @param {SourceFile} file @param {Header} header */
  static async open(source, file, header) {
    const name = `${file.name}.bai`;
    const packed = new SourceFile(name, source);
    const isCsi = isBlock(await packed.read(0, 18));
    const index = new (isCsi ? CSI : BAI)({ filehandle: packed.handle });
    const made = `run samtools index ${file.name}`;
    const parsed = await index.parse().catch(() => {
      throw new InputProblem(isCsi ? `${file.name}.csi` : name, "", "is damaged, or no index", made);
    });
    if (parsed.refCount > header.names.length) {
      const why = `it has ${parsed.refCount} contigs, the file ${header.names.length}`;
      throw new InputProblem(packed.name, "", `is not the index of ${file.name} as it is now: ${why}`, made);
    }
    return new BamIndex(index, file);
  }

  /** @param {number} tid */
  mappedReads(tid) {
    return this.index.lineCount(tid);
  }

  /** @param {number} tid @param {number} start @param {number} end @returns {Promise<{begin: Place, behind: Place}[]>} */
  async places(tid, start, end) {
    const size = await this.file.size();
    const chunks = await this.index.blocksForRange(tid, start, end);
    /** @type {{begin: Place, behind: Place}[]} */
    const places = [];
    for (const { minv, maxv } of chunks) {
      if (maxv.blockPosition > size) {
        const rule = `is not the index of ${this.file.name} as it is now: it leads beyond the file's end`;
        throw new InputProblem(`${this.file.name}.bai`, "", rule, `run samtools index ${this.file.name}`);
      }
      const last = places.at(-1)?.behind;
      let begin = { block: minv.blockPosition, within: minv.dataPosition };
      const behind = { block: maxv.blockPosition, within: maxv.dataPosition };
      // What the chunk before has is not read again.
      if (last && isBefore(begin, last)) begin = last;
      if (isBefore(begin, behind)) places.push({ begin, behind });
    }
    return places;
  }
}

/** @param {Place} one @param {Place} other */
function isBefore(one, other) {
  return one.block < other.block || (one.block === other.block && one.within < other.within);
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
        return { header: parsedHeader(data), first: { block: block.address, within: size - block.begin } };
      }
    }
  } catch (error) {
    if (!(error instanceof DamagedBlock)) throw error;
  }
  return null;
}

/** @param {Uint8Array} data a whole header @returns {Header} */
function parsedHeader(data) {
  const view = new DataView(data.buffer, data.byteOffset);
  const decoder = new TextDecoder();
  let at = 8 + view.getInt32(4, true);
  const text = decoder.decode(data.subarray(8, at)).replace(/\0+$/, "");
  const count = view.getInt32(at, true);
  at += 4;
  const names = [];
  const lengths = [];
  for (let i = 0; i < count; i++) {
    const size = view.getInt32(at, true);
    names.push(decoder.decode(data.subarray(at + 4, at + 3 + size)));
    lengths.push(view.getInt32(at + 4 + size, true));
    at += 8 + size;
  }
  return { names, lengths, text };
}
