// Checks and makes the index of a FASTA file, samtools' .fai (pairhmm/io/sequences/fasta_index.py).

import { blocksFrom, DamagedBlock } from "./bgzf.js";
import { PackedBytes, PlainBytes } from "./fasta_bytes.js";
import { forShell } from "./names.js";
import { InputProblem } from "./problem.js";

/** @typedef {import("./fasta_bytes.js").FastaBytes} FastaBytes */
/** @typedef {import("./sources.js").SourceFile} SourceFile */

/**
 * A line of a .fai. Lengths are in bases and in bytes, the offset in unpacked bytes.
 *
 * @typedef {{name: string, length: number, offset: number, lineBases: number, lineBytes: number}} FastaRecord
 */

/** @typedef {{bytes: FastaBytes, records: FastaRecord[]}} IndexedBytes */

const AT_ONCE = 1 << 22;
const [NEWLINE, GREATER] = [10, 62];
// The most records that are looked up in the file, so that an assembly of a million contigs takes no longer.
const MOST_CHECKED = 200;
// The most bytes between a record's last base and the next record: the end of the line, and perhaps blank lines.
const BETWEEN = 64;

/**
 * A FASTA file with its records by its index; null where that does not fit the file.
 *
 * @param {SourceFile} file
 * @param {SourceFile} fai
 * @param {SourceFile | null} gzi null for a plain file
 * @returns {Promise<IndexedBytes | null>}
 */
export async function indexedBytes(file, fai, gzi) {
  const records = parsedIndex(await fai.whole());
  const bytes = gzi === null ? new PlainBytes(file) : await PackedBytes.indexed(file, await gzi.whole());
  try {
    return records && bytes && (await fits(bytes, records)) ? { bytes, records } : null;
  } catch (error) {
    if (error instanceof DamagedBlock) return null;
    throw error;
  }
}

/** @param {Uint8Array} index @returns {FastaRecord[] | null} null where a line is none of a .fai */
function parsedIndex(index) {
  const lines = new TextDecoder("utf-8", { ignoreBOM: true }).decode(index).split("\n");
  if (lines.pop() || !lines.length) return null;
  const records = [];
  for (const line of lines) {
    const found = /^([^\t]*)\t(\d+)\t(\d+)\t(\d+)\t(\d+)\r?$/.exec(line);
    if (!found) return null;
    const numbers = found.slice(2).map(Number);
    const [length, offset, lineBases, lineBytes] = numbers;
    if (!numbers.every(Number.isSafeInteger)) return null;
    if (length && (lineBytes <= lineBases || lineBases === 0)) return null;
    records.push({ name: found[1], length, offset, lineBases, lineBytes });
  }
  return records;
}

/** Where the base of a position stands. @param {FastaRecord} record @param {number} position */
export function offsetOf({ offset, lineBases, lineBytes }, position) {
  return offset + Math.floor(position / lineBases) * lineBytes + (position % lineBases);
}

/** Whether each record ends where another one begins, and the last one where the file does. @param {FastaBytes} bytes @param {FastaRecord[]} all */
async function fits(bytes, all) {
  const records = all.filter(({ length }) => length).sort((one, other) => one.offset - other.offset);
  const last = records[records.length - 1];
  const step = Math.max(1, Math.floor(records.length / MOST_CHECKED));
  const size = await bytes.size();
  for (const record of new Set([...records.filter((_, number) => number % step === 0), ...records.slice(-1)])) {
    const end = offsetOf(record, record.length);
    const behind = new TextDecoder("latin1").decode(await bytes.read(end, BETWEEN)).trimStart();
    // The last line end may be missing at the end of the file.
    const isEnd = end <= size + record.lineBytes - record.lineBases && !behind;
    if (!(record === last ? isEnd : behind.startsWith(">"))) return false;
  }
  return true;
}

/**
 * A FASTA file with its records, which is read once for them, and not held.
 *
 * @param {SourceFile} file
 * @param {boolean} isPacked
 * @returns {Promise<IndexedBytes>}
 * @throws {InputProblem} for a file that is not FASTA, or has lines of several lengths in a record
 */
export async function madeIndex(file, isPacked) {
  const maker = new IndexMaker(file.name, isPacked);
  if (!isPacked) {
    const size = await file.size();
    for (let at = 0; at < size; at += AT_ONCE) maker.add(await file.read(at, AT_ONCE));
    return { bytes: new PlainBytes(file), records: maker.finish() };
  }
  /** @type {number[]} */
  const places = [];
  /** @type {number[]} */
  const offsets = [];
  try {
    for await (const { addresses, begins, data } of blocksFrom(file, 0)) {
      for (const address of addresses) places.push(address);
      for (const begin of begins) offsets.push(maker.at + begin);
      maker.add(data);
    }
  } catch (error) {
    if (error instanceof DamagedBlock) throw maker.refusal();
    throw error;
  }
  return { bytes: new PackedBytes(file, places, offsets), records: maker.finish() };
}

/** Takes the bytes of a FASTA file one after the other, as htslib does (fai_build_core). */
class IndexMaker {
  /** @param {string} path @param {boolean} isPacked */
  constructor(path, isPacked) {
    this.path = path;
    this.isPacked = isPacked;
    /** @type {FastaRecord[]} */
    this.records = [];
    this.at = 0;
    /** @type {FastaRecord | null} */
    this.record = null;
    // Behind a line that is shorter, or blank, only another record may come.
    this.isOver = true;
    /** @type {number[] | null} of a line that begins with > */
    this.header = null;
    this.bases = this.bytes = 0;
  }

  /** @param {Uint8Array} data */
  add(data) {
    for (let i = 0; i < data.length;) {
      const found = data.indexOf(NEWLINE, i);
      const end = found < 0 ? data.length : found;
      if (this.bytes === 0 && data[i] === GREATER) this.header = [];
      if (this.header) for (let k = i; k < end; k++) this.header.push(data[k]);
      else this.bases += lettersOf(data, i, end);
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
    // A file that ends within a record's name, or at it, has no such record.
    if (this.header) throw this.refusal();
    if (this.bytes) {
      this.bytes++;
      this.#endLine();
    }
    if (!this.record?.lineBytes) throw this.refusal();
    this.records.push(this.record);
    return this.records;
  }

  refusal() {
    const joined = `/^>/ {if (n++) print ""; print; next} {printf "%s", $0} END {print ""}`;
    const cure = this.isPacked
      ? "is it damaged? are its lines of one length?"
      : `if its lines have different lengths, run awk '${joined}' ${forShell(this.path)} > even.fa`;
    return new InputProblem(this.path, "", "can't be indexed as FASTA", cure);
  }

  #endLine() {
    if (this.header) this.#begin(Uint8Array.from(this.header));
    else if (this.bytes === 1) this.isOver = true;
    else if (this.isOver || !this.record) {
      if (this.bytes !== 2 || this.bases) throw this.refusal();
    } else this.#addLine(this.record);
    this.header = null;
    this.bases = this.bytes = 0;
  }

  /** @param {Uint8Array} header */
  #begin(header) {
    if (this.record?.lineBytes) this.records.push(this.record);
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(header);
    const name = text
      .slice(1)
      .replace(/^[ \t\v\f\r]+/, "")
      .split(/[ \t\v\f\r]/)[0];
    this.record = { name, length: 0, offset: this.at, lineBases: 0, lineBytes: 0 };
    this.isOver = false;
  }

  /** @param {FastaRecord} record */
  #addLine(record) {
    record.length += this.bases;
    if (!record.lineBytes) [record.lineBases, record.lineBytes] = [this.bases, this.bytes];
    else if (this.bytes > record.lineBytes) throw this.refusal();
    else this.isOver = this.bytes < record.lineBytes;
  }
}

/** How many bytes of a stretch are visible letters. @param {Uint8Array} data @param {number} begin @param {number} end */
function lettersOf(data, begin, end) {
  let count = 0;
  for (let i = begin; i < end; i++) if (data[i] > 0x20 && data[i] < 0x7f) count++;
  return count;
}
