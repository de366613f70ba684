// Makes the index of a FASTA file, samtools' .fai (pairhmm/io/sequences/fasta_index.py).

import { forShell } from "./names.js";
import { InputProblem } from "./problem.js";

/** @typedef {import("./sources.js").SourceFile} SourceFile */

const AT_ONCE = 1 << 22;
const [NEWLINE, RETURN, GREATER] = [10, 13, 62];

/**
 * The .fai of a plain FASTA file. The file is read once, and not held.
 *
 * @param {SourceFile} file
 * @returns {Promise<Uint8Array>}
 * @throws {InputProblem} for a file that is not FASTA, or has lines of several lengths in a record
 */
export async function madeIndex(file) {
  const maker = new IndexMaker(file.name);
  const size = await file.size();
  for (let at = 0; at < size; at += AT_ONCE) maker.add(await file.read(at, AT_ONCE));
  return new TextEncoder().encode(maker.finish());
}

class IndexMaker {
  /** @param {string} path */
  constructor(path) {
    this.path = path;
    /** @type {string[]} */
    this.lines = [];
    /** @type {{name: string, length: number, offset: number, bases: number, bytes: number, isShort: boolean} | null} */
    this.record = null;
    this.at = 0;
    /** @type {number[]} */
    this.header = [];
    this.inHeader = false;
    this.bases = this.bytes = 0;
  }

  /** @param {Uint8Array} data */
  add(data) {
    for (let i = 0; i < data.length;) {
      const found = data.indexOf(NEWLINE, i);
      const end = found < 0 ? data.length : found;
      if (this.bytes === 0 && data[i] === GREATER) this.#begin();
      if (this.inHeader) this.header.push(...data.subarray(i, end));
      else if (end > i) this.bases += end - i - Number(data[end - 1] === RETURN);
      this.bytes += end - i;
      this.at += end - i;
      i = end;
      if (found < 0) break;
      this.bytes++;
      this.at++;
      i++;
      this.#endLine();
    }
  }

  finish() {
    if (this.bytes) this.#endLine();
    this.#end();
    return this.lines.join("");
  }

  #begin() {
    this.#end();
    this.inHeader = true;
    this.header = [];
  }

  #endLine() {
    const { record } = this;
    if (this.inHeader) {
      const name = new TextDecoder().decode(Uint8Array.from(this.header)).slice(1).trim().split(/\s/)[0];
      this.record = { name, length: 0, offset: this.at, bases: 0, bytes: 0, isShort: false };
    } else if (!record) {
      if (this.bases) throw uneven(this.path);
    } else if (this.bases) {
      if (!record.bases) [record.bases, record.bytes] = [this.bases, this.bytes];
      else if (record.isShort || this.bases > record.bases) {
        throw uneven(this.path);
      }
      record.isShort = this.bases < record.bases;
      record.length += this.bases;
    } else if (record.bases) {
      record.isShort = true;
    }
    this.inHeader = false;
    this.bases = this.bytes = 0;
  }

  #end() {
    const { record } = this;
    if (record) {
      const bytes = Math.max(record.bytes, record.bases + 1);
      this.lines.push([record.name, record.length, record.offset, record.bases, bytes].join("\t") + "\n");
    }
  }
}

/** The error for a FASTA in which nothing can be found. @param {string} path */
function uneven(path) {
  const joined = `/^>/ {if (n++) print ""; print; next} {printf "%s", $0} END {print ""}`;
  const cure = `if its lines have different lengths, run awk '${joined}' ${forShell(path)} > even.fa`;
  return new InputProblem(path, "", "can't be indexed as FASTA", cure);
}
