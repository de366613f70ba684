// CRAM files, whose records are made to those of BAM, so that one parser takes both.

import { bamRecords } from "./bam_writer.js";
import { DamagedBlock } from "./bgzf.js";
import { CheckedCramFile } from "./cram_blocks.js";
import { openCramIndex } from "./cram_index.js";
import { InputProblem } from "./problem.js";

/** @import { CramFile } from "@gmod/cram" */
/** @import { Header, Parser } from "./bam.js" */
/** @import { CramIndex } from "./cram_index.js" */
/** @import { Reference } from "./fasta.js" */
/** @import { Source, SourceFile } from "./sources.js" */
/** @typedef {{containerStart: number, sliceStart: number, sliceBytes: number}} SlicePlace */

const DEFINITION_SIZE = 26;

/** A CRAM file. */
export class Cram {
  /** @param {SourceFile} file @param {CramFile} cram @param {Header} header @param {string[]} groups @param {CramIndex | null} index */
  constructor(file, cram, header, groups, index) {
    this.file = file;
    this.cram = cram;
    this.header = header;
    this.groups = groups;
    this.index = index;
  }

  /** Whether a file with these first bytes can be a CRAM. @param {Uint8Array} head */
  static mayBe(head) {
    return String.fromCharCode(...head.subarray(0, 4)) === "CRAM";
  }

  /**
   * @param {SourceFile} file
   * @param {Source | undefined} index
   * @param {Reference} reference which the records are decoded with
   * @returns {Promise<Cram | null>} null where it is damaged at its beginning
   */
  static async open(file, index, reference) {
    /** @type {Header} */
    const header = { names: [], lengths: [], text: "" };
    const seqFetch = async (/** @type {number} */ tid, /** @type {number} */ start, /** @type {number} */ end) => {
      if (!reference.contigs.has(header.names[tid])) throw new DamagedBlock("no such contig in the reference");
      return reference.fetch(header.names[tid], start - 1, end);
    };
    const cram = new CheckedCramFile(file, seqFetch);
    /** @type {string[]} */
    const groups = [];
    try {
      header.text = (await cram.getHeaderText()) ?? "";
    } catch {
      return null;
    }
    for (const line of header.text.split("\n")) {
      const fields = new Map(line.split("\t").map((field) => [field.slice(0, 2), field.slice(3)]));
      if (line.startsWith("@SQ")) {
        header.names.push(fields.get("SN") ?? "");
        header.lengths.push(Number(fields.get("LN")));
      } else if (line.startsWith("@RG")) groups.push(fields.get("ID") ?? "");
    }
    return new Cram(
      file,
      cram,
      header,
      groups,
      index === undefined ? null : await openCramIndex(index, file, header.names.length),
    );
  }

  get hasIndex() {
    return this.index !== null;
  }

  /** Null: an index of CRAM does not count reads. @param {number} _tid @returns {number | null} */
  mappedReads(_tid) {
    return null;
  }

  /** All records. */
  async *whole() {
    yield new CramRecords(this, this.#slices(), null);
  }

  /** The records that overlap [start, end) of a contig, and others that lie beside them. @param {number} tid @param {number} start @param {number} end */
  async *throughIndex(tid, start, end) {
    yield new CramRecords(this, places(/** @type {CramIndex} */ (this.index).slices(tid, start, end)), tid);
  }

  /** The places of all slices. @returns {AsyncGenerator<SlicePlace>} */
  async *#slices() {
    const size = await this.file.size();
    let isHeader = true;
    for (let at = DEFINITION_SIZE; at < size;) {
      const { landmarks, length, _endPosition, numRecords } = await this.cram.getContainerAtPosition(at).getHeader();
      for (const [index, sliceStart] of (isHeader || !numRecords ? [] : landmarks).entries()) {
        yield { containerStart: at, sliceStart, sliceBytes: (landmarks[index + 1] ?? length) - sliceStart };
      }
      if (_endPosition + length <= at) throw new DamagedBlock("a container that ends before it begins");
      at = _endPosition + length;
      isHeader = false;
    }
  }
}

/** @param {SlicePlace[]} slices */
async function* places(slices) {
  yield* slices;
}

/** Records of slices, as those of BAM. */
export class CramRecords {
  /** @param {Cram} file @param {AsyncGenerator<SlicePlace>} slices @param {number | null} tid the contig whose records are wanted; null for all */
  constructor(file, slices, tid) {
    this.file = file;
    this.slices = slices;
    this.tid = tid;
    this.data = new Uint8Array(0);
    this.at = 0;
  }

  /** Lets a parser take records until it stops. "more" is the end of the records. @param {Parser} parser @param {number} room */
  async parse(parser, room) {
    for (;;) {
      const found = parser.parse(this.data, this.at, this.data.length, room);
      this.at = found.at;
      if (found.stop !== "more" || !(await this.#next())) return found.stop;
    }
  }

  async #next() {
    try {
      const { value: place, done } = await this.slices.next();
      if (done) return false;
      const slice = this.file.cram
        .getContainerAtPosition(place.containerStart)
        .getSlice(place.sliceStart, place.sliceBytes);
      const { tid } = this;
      const records = await slice.getRecords((record) => tid === null || record.sequenceId === tid);
      this.data = bamRecords(records, this.file.groups);
      this.at = 0;
      return true;
    } catch (error) {
      if (error instanceof InputProblem) throw error;
      throw new DamagedBlock(String(error));
    }
  }
}
