// Checks and makes the index of a FASTA file, samtools' .fai (pairhmm/sequences/fasta_index.py).

import { blocksFrom, DamagedBlock } from "./bgzf.js";
import { PackedBytes } from "./fasta_bytes.js";
import { forShell } from "./names.js";
import { InputProblem } from "./problem.js";

/** @import { FastaBytes } from "./fasta_bytes.js" */
/** @import { SourceFile } from "./sources.js" */

/**
 * A line of a .fai. Lengths are in bases and in bytes, the offset in unpacked bytes.
 *
 * @typedef {{name: string, length: number, offset: number, lineBases: number, lineBytes: number}} FastaRecord
 */

/** @typedef {{bytes: FastaBytes, records: FastaRecord[]}} IndexedBytes */

const AT_ONCE = 1 << 22;
const [NEWLINE, GREATER] = [10, 62];
// The most records that are looked up in a plain file, in a packed one and at an address, where each look is a request, so
// that an assembly of a million contigs takes no longer.
const [MOST_IN_PLAIN, MOST_IN_PACKED, MOST_REMOTE] = [1000, 200, 40];
// The most bytes of a line end, and those between a record's last base and the end of the next name line.
const [LONGEST_LINE_END, NAME_LINE, LONGEST_NAME_LINE] = [64, 1 << 10, 1 << 16];
// Bases of a line that are looked at. A line may hold a chromosome.
const LINE_PART = 1 << 12;
const SPACE = /[ \t\n\v\f\r]/;

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
  const bytes = gzi === null ? file : await PackedBytes.indexed(file, await gzi.whole());
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
    if (length && (lineBytes <= lineBases || lineBases === 0 || lineBytes > lineBases + LONGEST_LINE_END)) return null;
    records.push({ name: found[1], length, offset, lineBases, lineBytes });
  }
  return records;
}

/** Where the base of a position stands. @param {FastaRecord} record @param {number} position */
export function offsetOf({ offset, lineBases, lineBytes }, position) {
  return offset + Math.floor(position / lineBases) * lineBytes + (position % lineBases);
}

/**
 * Whether records have their lines where the index says, each behind its name, and none is left out.
 *
 * @param {FastaBytes} bytes
 * @param {FastaRecord[]} all
 */
async function fits(bytes, all) {
  const records = [...all].sort((one, other) => one.offset - other.offset);
  const names = new Set(records.map(({ name }) => name));
  const size = await bytes.size();
  if (!(await leadsTo(bytes, size, 0, records[0], names))) return false;
  const most = bytes instanceof PackedBytes ? MOST_IN_PACKED : MOST_IN_PLAIN;
  const step = Math.max(1, Math.floor(records.length / (bytes.isRemote ? MOST_REMOTE : most)));
  for (let number = 0; number < records.length; number++) {
    if (number % step && number + 1 < records.length) continue;
    const record = records[number];
    if (!(await hasLines(bytes, size, record))) return false;
    if (!(await leadsTo(bytes, size, endOf(record), records[number + 1] ?? null, names))) return false;
  }
  return true;
}

/** The offset behind a record's last base. @param {FastaRecord} record */
function endOf(record) {
  return record.length ? offsetOf(record, record.length - 1) + 1 : record.offset;
}

/**
 * Whether the first and the last line of a record are lines of bases, and a line end stands before the others.
 *
 * @param {FastaBytes} bytes
 * @param {number} size
 * @param {FastaRecord} record
 */
async function hasLines(bytes, size, record) {
  const end = endOf(record);
  if (end > size) return false;
  if (!record.length) return true;
  const last = Math.floor((record.length - 1) / record.lineBases);
  for (const line of new Set([0, Math.min(1, last), last])) {
    const start = record.offset + line * record.lineBytes;
    if (SPACE.test(await textAt(bytes, start, Math.min(record.lineBases, end - start, LINE_PART)))) return false;
    const lineEnd = record.lineBytes - record.lineBases;
    if (line === 0) continue;
    const before = await textAt(bytes, start - lineEnd - 1, lineEnd + 1);
    if (SPACE.test(before[0]) || !/^[ \t\v\f\r]*\n$/.test(before.slice(1))) return false;
  }
  return !SPACE.test(await textAt(bytes, end - 1, 1));
}

/**
 * Whether a record's name line comes next behind the bases that end at a place; without a record, the end.
 *
 * @param {FastaBytes} bytes
 * @param {number} size
 * @param {number} place
 * @param {FastaRecord | null} following
 * @param {Set<string>} names
 */
async function leadsTo(bytes, size, place, following, names) {
  let text = await textAt(bytes, place, NAME_LINE);
  if (!withoutSpace(text).includes("\n")) text = await textAt(bytes, place, LONGEST_NAME_LINE);
  let at = text.length - withoutSpace(text).length;
  while (at < text.length) {
    if (text[at] !== ">") return false;
    const line = text.slice(at).split("\n", 1)[0];
    const name = nameOf(Uint8Array.from(line, (letter) => letter.charCodeAt(0)));
    at += line.length + 1;
    if (following && (following.offset === place + at || !following.length)) return name === following.name;
    // The index leaves out records without bases, and those whose name comes twice.
    if (text[at] === ">") continue;
    return names.has(name) && (!following || (name !== following.name && following.offset > place + at));
  }
  return following === null && place + text.length === size;
}

/** @param {FastaBytes} bytes @param {number} offset @param {number} count */
async function textAt(bytes, offset, count) {
  // One character a byte. A TextDecoder would take bytes from 128 on for those of Windows.
  return Array.from(await bytes.read(offset, count), (byte) => String.fromCharCode(byte)).join("");
}

/** @param {string} text */
function withoutSpace(text) {
  return text.replace(/^[ \t\n\v\f\r]+/, "");
}

/** The name of a name line. @param {Uint8Array} line */
function nameOf(line) {
  return new TextDecoder("utf-8", { ignoreBOM: true })
    .decode(line)
    .slice(1)
    .replace(/^[ \t\v\f\r]+/, "")
    .split(/[ \t\v\f\r]/)[0];
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
    return { bytes: file, records: maker.finish() };
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
    this.hasMark = false; // a byte order mark
  }

  /** @param {Uint8Array} data */
  add(data) {
    if (this.at === 0) this.hasMark = data[0] === 0xef && data[1] === 0xbb && data[2] === 0xbf;
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
    if (this.at === 0) return new InputProblem(this.path, "", "is empty", "give the reference FASTA with -f");
    const joined = `/^>/ {if (n++) print ""; print; next} {printf "%s", $0} END {print ""}`;
    const cure = this.isPacked
      ? "is it damaged? are its lines of one length?"
      : this.hasMark
        ? `it begins with a byte order mark: run tail -c +4 ${forShell(this.path)} > plain.fa`
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
    const name = nameOf(header);
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
