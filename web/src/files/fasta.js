// The reference genome (pairhmm/sequences/fasta.py).

import { blocksFrom, DamagedBlock, isBlock } from "./bgzf.js";
import { checkNames, forShell, quoted, sameContig } from "./names.js";
import { checkEnd } from "./end_markers.js";
import { indexedBytes, madeIndex, offsetOf } from "./fasta_index.js";
import { checkPacking, SourceFile } from "./sources.js";
import { InputProblem } from "./problem.js";

/** @import { FastaRecord, IndexedBytes } from "./fasta_index.js" */
/** @import { Source } from "./sources.js" */
/** @typedef {{name: string, fasta: Source, fai?: Source, gzi?: Source}} ReferenceFiles */

// Bases come in windows of this many, some of which are kept.
const WINDOW = 1 << 16;
const KEPT_WINDOWS = 64;
const NO_LETTER = /[^ACGTURYKMSWBDHVN]/;
// What a decoder writes for bytes that are not UTF-8.
const NO_UTF8 = "\ufffd";
const OTHERS = /** @type {const} */ ([
  [/^BAM\x01/, "a BAM file"],
  [/^CRAM/, "a CRAM file"],
  [/^@(HD|SQ|RG|PG|CO)\t/, "a SAM file"],
  [/^##fileformat=VCF/, "a VCF"],
]);
const GIVE = "give the reference FASTA with -f";

/** An indexed FASTA file. */
export class Reference {
  /** @param {string} path @param {IndexedBytes} indexed */
  constructor(path, { bytes, records }) {
    this.path = path;
    this.bytes = bytes;
    /** @type {Map<string, FastaRecord>} of two records of one name, the first */
    this.records = new Map([...records].reverse().map((record) => [record.name, record]));
    this.contigs = new Map(records.map(({ name }) => [name, this.#record(name).length]));
    /** @type {Map<string, string>} */
    this.windows = new Map();
  }

  /**
   * @param {ReferenceFiles} given
   * @param {(text: string) => void} warn
   * @throws {InputProblem} for a file that is no FASTA, is cut off, or can't be indexed
   */
  static async open(given, warn) {
    const fasta = new SourceFile(given.name, given.fasta);
    await checkPacking(fasta);
    const isPacked = await checkKind(fasta);
    await checkEnd(fasta);
    const indexed = await withIndex(fasta, given, isPacked, warn);
    if (!indexed.records.length) throw new InputProblem(given.name, "", "no sequence in it", GIVE);
    if (indexed.records.some(({ name }) => name.includes(NO_UTF8))) {
      const cure = `is it bgzipped? is ${given.name}.fai its index?`;
      throw new InputProblem(given.name, "", "can't be opened as FASTA", cure);
    }
    const reference = new Reference(given.name, indexed);
    checkNames(given.name, "contig", reference.contigs.keys(), "rename it");
    return reference;
  }

  /**
   * Upper-case bases of [start, end), 0-based half-open, clamped to the contig.
   *
   * @param {string} chrom
   * @param {number} start
   * @param {number} end
   * @returns {Promise<string>}
   */
  async fetch(chrom, start, end) {
    const begin = Math.max(0, start);
    const stop = Math.min(end, this.length(chrom));
    if (begin >= stop) return "";
    const number = Math.floor(begin / WINDOW);
    const isWithin = stop <= (number + 1) * WINDOW;
    // What is wrong may lie beside what is asked for.
    const window = isWithin && (await this.#window(chrom, number));
    return window ? window.slice(begin - number * WINDOW, stop - number * WINDOW) : this.#read(chrom, begin, stop);
  }

  /** Bases of a window; empty where some can't be used. @param {string} chrom @param {number} number */
  async #window(chrom, number) {
    const key = `${chrom}\n${number}`;
    const end = Math.min((number + 1) * WINDOW, this.length(chrom));
    const read = () => this.#read(chrom, number * WINDOW, end).catch(noneIfProblem);
    const window = this.windows.get(key) ?? (await read());
    this.windows.delete(key);
    this.windows.set(key, window);
    if (this.windows.size > KEPT_WINDOWS) this.windows.delete([...this.windows.keys()][0]);
    return window;
  }

  /** @param {string} chrom */
  #record(chrom) {
    return /** @type {FastaRecord} */ (this.records.get(chrom));
  }

  /** The bases of a stretch that lies in the contig. @param {string} chrom @param {number} begin @param {number} stop */
  async #read(chrom, begin, stop) {
    const record = this.#record(chrom);
    const first = offsetOf(record, begin);
    const end = offsetOf(record, stop - 1) + 1;
    const bytes = await this.bytes.read(first, end - first).catch((error) => {
      if (!(error instanceof DamagedBlock)) throw error;
    });
    if (bytes?.length !== end - first) {
      throw new InputProblem(this.path, chrom, "can't be read", "is its .fai another file's? remove it");
    }
    const bases = withoutLineEnds(bytes, begin, record).toUpperCase();
    const other = NO_LETTER.exec(bases);
    if (other) {
      const isLetter = !/[^\0-\x7f]/.test(bases);
      const what = `letter ${quoted(other[0])} at position ${begin + other.index + 1}`;
      const rule = `${isLetter ? what : "a character that is no letter"} is not an IUPAC base`;
      throw new InputProblem(this.path, `contig ${chrom}`, rule, "is it a FASTA of DNA?");
    }
    return bases;
  }

  /**
   * Requires that the contigs of another file are those of this reference.
   *
   * @param {string} path the other file
   * @param {Iterable<[string, number]>} contigs name and length
   */
  checkContigs(path, contigs) {
    for (const [name, length] of contigs) {
      const own = this.length(name, path);
      if (length === own) continue;
      const rule = `${length} bases in ${path} and ${own} in the reference`;
      throw new InputProblem(this.path, `contig ${name}`, rule, "use the reference that the reads were aligned to");
    }
  }

  /** The length of a contig. @param {string} name */
  length(name, path = "") {
    const length = this.contigs.get(name);
    if (length !== undefined) return length;
    const other = sameContig(name, this.contigs.keys());
    const hint = other ? `, which has ${other} in its place` : "";
    const where = path ? `, but in ${path}` : "";
    const cure = "use the reference that the reads were aligned to";
    throw new InputProblem(this.path, `contig ${name}`, `not in the reference${hint}${where}`, cure);
  }
}

/** @param {unknown} error */
function noneIfProblem(error) {
  if (error instanceof InputProblem) return "";
  throw error;
}

/** Whether a FASTA is bgzipped. Refuses files of other formats. @param {SourceFile} fasta */
async function checkKind(fasta) {
  let head = await fasta.read(0, 1 << 10);
  const isPacked = isBlock(head);
  if (isPacked) head = (await firstBlock(fasta)).subarray(0, 1 << 10);
  const text = new TextDecoder("latin1").decode(head);
  for (const [begins, kind] of OTHERS) {
    if (begins.test(text)) throw new InputProblem(fasta.name, "", `is ${kind}, no FASTA`, GIVE);
  }
  if (!isPacked && head[0] === 31 && head[1] === 139) {
    const cure = `run gunzip -c ${forShell(fasta.name)} | bgzip -c > bgzipped.fa.gz`;
    throw new InputProblem(fasta.name, "", "can't be indexed as FASTA", cure);
  }
  return isPacked;
}

/** The first bytes of a bgzipped file, unpacked; none where it is damaged. @param {SourceFile} fasta */
async function firstBlock(fasta) {
  try {
    const { value } = await blocksFrom(fasta, 0, 0).next();
    return value?.data ?? new Uint8Array(0);
  } catch (error) {
    if (!(error instanceof DamagedBlock)) throw error;
    return new Uint8Array(0);
  }
}

/**
 * The FASTA by its index, or by one that is made, which is said.
 *
 * @param {SourceFile} fasta
 * @param {ReferenceFiles} given
 * @param {boolean} isPacked
 * @param {(text: string) => void} warn
 */
async function withIndex(fasta, given, isPacked, warn) {
  if (given.fai === undefined) warn(`${given.name} has no index: made`);
  else if (isPacked && given.gzi === undefined) warn(`${given.name} has no .gzi index: made anew`);
  else {
    const gzi = isPacked ? new SourceFile(`${given.name}.gzi`, /** @type {Source} */ (given.gzi)) : null;
    const indexed = await indexedBytes(fasta, new SourceFile(`${given.name}.fai`, given.fai), gzi);
    if (indexed) return indexed;
    warn(`${given.name}.fai does not fit its FASTA (it may be cut off): made anew`);
  }
  return madeIndex(fasta, isPacked);
}

/**
 * The bases among bytes of a record, from the one at a position on. Line ends are left out by their places, whatever
 * stands there, as htslib does.
 *
 * @param {Uint8Array} bytes
 * @param {number} begin
 * @param {FastaRecord} record
 */
function withoutLineEnds(bytes, begin, { lineBases, lineBytes }) {
  const text = new TextDecoder("latin1").decode(bytes);
  const lines = [];
  for (let at = -(begin % lineBases); at < text.length; at += lineBytes) {
    lines.push(text.slice(Math.max(0, at), at + lineBases));
  }
  return lines.join("");
}
