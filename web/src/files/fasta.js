// The reference genome (pairhmm/io/sequences/fasta.py).

import { BgzipIndexedFasta, IndexedFasta } from "@gmod/indexedfasta";

import { blocksFrom, DamagedBlock, isBlock } from "./bgzf.js";
import { sameContig } from "./contig_names.js";
import { madeIndex } from "./fasta_index.js";
import { checkNames, forShell } from "./names.js";
import { InputProblem } from "./problem.js";
import { SourceFile } from "./sources.js";

/** @typedef {import("./sources.js").Source} Source */
/** @typedef {{name: string, fasta: Source, fai?: Source, gzi?: Source}} ReferenceFiles */

// Bases come in windows of this many, some of which are kept.
const WINDOW = 1 << 16;
const KEPT_WINDOWS = 64;
const NO_LETTER = /[^ACGTURYKMSWBDHVN]/;
const OTHERS = /** @type {const} */ ([
  [/^BAM\x01/, "a BAM file"],
  [/^CRAM/, "a CRAM file"],
  [/^@(HD|SQ|RG|PG|CO)\t/, "a SAM file"],
  [/^##fileformat=VCF/, "a VCF"],
]);
const GIVE = "give the reference FASTA with -f";

/** An indexed FASTA file. */
export class Reference {
  /** @param {string} path @param {IndexedFasta} file @param {Map<string, number>} contigs name and length */
  constructor(path, file, contigs) {
    this.path = path;
    this.contigs = contigs;
    this.file = file;
    /** @type {Map<string, string>} */
    this.windows = new Map();
  }

  /**
   * @param {ReferenceFiles} given
   * @param {(text: string) => void} warn
   * @throws {InputProblem} for a file that is no FASTA or can't be indexed
   */
  static async open(given, warn) {
    const fasta = new SourceFile(given.name, given.fasta);
    const isPacked = await checkKind(fasta);
    const fai = given.fai === undefined ? undefined : new SourceFile(`${given.name}.fai`, given.fai);
    if (isPacked && (given.gzi === undefined || fai === undefined)) {
      const missing = fai === undefined ? "index" : ".gzi index";
      throw new InputProblem(given.name, "", `has no ${missing}`, `run samtools faidx ${given.name}`);
    }
    if (fai === undefined) warn(`${given.name} has no index: made`);
    const index = fai ? fai.handle : new SourceFile("", await madeIndex(fasta)).handle;
    const gzi = given.gzi === undefined ? undefined : new SourceFile(`${given.name}.gzi`, given.gzi).handle;
    const file = isPacked
      ? new BgzipIndexedFasta({ fasta: fasta.handle, fai: index, gzi })
      : new IndexedFasta({ fasta: fasta.handle, fai: index });
    const contigs = await sizes(file, given.name);
    if (!contigs.size) throw new InputProblem(given.name, "", "no sequence in it", GIVE);
    checkNames(given.name, "contig", contigs.keys(), "rename it");
    return new Reference(given.name, file, contigs);
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
    const first = Math.floor(begin / WINDOW);
    const last = Math.floor((stop - 1) / WINDOW);
    if (last - first >= KEPT_WINDOWS) return this.#read(chrom, begin, stop);
    let bases = "";
    for (let number = first; number <= last; number++) bases += await this.#window(chrom, number);
    return bases.slice(begin - first * WINDOW, stop - first * WINDOW);
  }

  /** @param {string} chrom @param {number} number */
  async #window(chrom, number) {
    const key = `${chrom}\n${number}`;
    let window = this.windows.get(key);
    if (window === undefined) {
      window = await this.#read(chrom, number * WINDOW, Math.min((number + 1) * WINDOW, this.length(chrom)));
    } else {
      this.windows.delete(key);
    }
    this.windows.set(key, window);
    if (this.windows.size > KEPT_WINDOWS) this.windows.delete([...this.windows.keys()][0]);
    return window;
  }

  /** The bases of a stretch that lies in the contig. @param {string} chrom @param {number} begin @param {number} stop */
  async #read(chrom, begin, stop) {
    /** @type {string} */
    let bases;
    try {
      bases = ((await this.file.getSequence(chrom, begin, stop)) ?? "").toUpperCase();
    } catch (error) {
      if (error instanceof InputProblem) throw error;
      throw new InputProblem(this.path, chrom, "can't be read", "is its .fai another file's? remove it");
    }
    const other = NO_LETTER.exec(bases);
    if (other) {
      const rule = `letter '${other[0]}' at position ${begin + other.index + 1} is not an IUPAC base`;
      throw new InputProblem(this.path, `contig ${chrom}`, rule, "is it a FASTA of DNA?");
    }
    if (bases.length !== stop - begin) {
      const place = `${(begin + 1).toLocaleString("en")} to ${stop.toLocaleString("en")}`;
      const cure = "is its .fai another file's? remove it";
      throw new InputProblem(this.path, `contig ${chrom}`, `has not the bases ${place} that its index says`, cure);
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
    const rule = path ? `not in the reference, but in ${path}` : "not in the reference";
    const other = sameContig(name, this.contigs.keys());
    const hint = other ? `, which has ${other} in its place` : "";
    const cure = "use the reference that the reads were aligned to";
    throw new InputProblem(this.path, `contig ${name}`, rule + hint, cure);
  }
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

/** Name and length of the contigs of an index. @param {IndexedFasta} file @param {string} path */
async function sizes(file, path) {
  const cure = `is it bgzipped? is ${path}.fai its index?`;
  const damaged = () => new InputProblem(path, "", "can't be opened as FASTA", cure);
  const given = await file.getSequenceSizes().catch(() => {
    throw damaged();
  });
  // Names that are numbers would come first in an object.
  const names = await file.getSequenceNames();
  if (names.some((name) => !name || !Number.isInteger(given[name]) || given[name] < 0)) throw damaged();
  return new Map(names.map((name) => [name, given[name]]));
}
