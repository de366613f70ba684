// Opens alignment files, and checks them before any read is taken from them (pairhmm/alignments/opening.py).

import { Bam } from "./bam.js";
import { Cram } from "./cram.js";
import { checkEnd } from "./end_markers.js";
import { rankOf } from "./intervals.js";
import { checkNames, listed, quoted } from "./names.js";
import { InputProblem } from "./problem.js";
import { checkPacking, SourceFile } from "./sources.js";

/** @import { Native } from "../cpu/native.js" */
/** @import { Reference } from "./fasta.js" */
/** @import { Source } from "./sources.js" */

/** @typedef {{name: string, data: Source, index?: Source}} AlignmentFile */

const OTHER_FORMAT = "not a BAM or CRAM file, or damaged at its beginning";
const MEND = "mend it with samtools reheader";

/**
 * An open alignment file, and the sample of each of its read groups.
 *
 * @typedef {object} OpenAlignments
 * @property {string} path
 * @property {Bam | Cram} file
 * @property {Map<string, number>} sampleOfGroup empty where all reads have one sample
 * @property {number | null} defaultSample of reads without a read group; null where the file has several samples
 * @property {string[]} groupsWithoutSample read groups of the header that have none
 * @property {string[]} contigs those that are read
 */

/** Alignment files that are read together. */
export class AlignmentReader {
  /** @param {Reference} reference @param {(text: string) => void} tell */
  constructor(reference, tell) {
    this.reference = reference;
    this.tell = tell;
    /** @type {OpenAlignments[]} */
    this.sources = [];
    /** @type {Map<string, number>} lengths of the contigs, in the order that their reads come in */
    this.contigs = new Map();
    /** @type {Map<string, string>} MD5 of contigs, where a header has it */
    this.checksums = new Map();
    /** @type {string[]} */
    this.samples = [];
  }

  /**
   * @param {AlignmentFile[]} files
   * @param {Reference} reference
   * @param {Native} native
   * @param {boolean} needIndex regions will be asked for
   * @param {(text: string) => void} tell
   * @throws {InputProblem}
   */
  static async open(files, reference, native, needIndex, tell) {
    const reader = new AlignmentReader(reference, tell);
    for (const file of files) await reader.#add(file, native, needIndex);
    return reader;
  }

  /** @param {AlignmentFile} given @param {Native} native @param {boolean} needIndex */
  async #add(given, native, needIndex) {
    const path = given.name;
    const file = await opened(given, this.reference, native);
    const header = parsedLines(path, file.header);
    const groups = this.#samplesOf(path, header.groups);
    const rename = "rename it (samtools reheader), or the file where it has no read groups";
    checkNames(path, "sample", this.samples, rename);
    checkNames(path, "contig", file.header.names, "rename it: samtools reheader");
    if (header.order === "queryname") throw new InputProblem(path, "", "sorted by read name", "run samtools sort");
    if (!file.hasIndex && needIndex) {
      throw new InputProblem(path, "", "has no index, which regions need", `run samtools index ${path}`);
    }
    const known = this.#knownContigs(path, file.header.names, file.header.lengths);
    this.sources.push({ path, file, ...groups, contigs: [...known.keys()] });
    for (const [name, length] of known) if (!this.contigs.has(name)) this.contigs.set(name, length);
    for (const [name, sum] of header.checksums) if (!this.checksums.has(name)) this.checksums.set(name, sum);
    const rank = rankOf(this.contigs.keys());
    const order = [...known.keys()].map((name) => /** @type {number} */ (rank.get(name)));
    if (order.some((one, index) => index > 0 && one < order[index - 1])) {
      const rule = `its contigs are in another order than those of ${this.sources[0].path}`;
      throw new InputProblem(path, "", rule, "reorder it (gatk ReorderSam) and sort it");
    }
  }

  /** @param {string} path @param {Map<string, string>[]} groups */
  #samplesOf(path, groups) {
    const stem = path.replace(/^.*\//, "").replace(/\.[^.]*$/, "");
    // Read groups without SM belong to the file's only sample (pairhmm/files/names.py).
    const named = groups.filter((group) => group.get("SM"));
    const names = new Set(named.map((group) => /** @type {string} */ (group.get("SM"))));
    if (!names.size) names.add(stem);
    for (const name of names) if (!this.samples.includes(name)) this.samples.push(name);
    /** @param {string} [name] */
    const indexOf = (name) => this.samples.indexOf(name ?? "");
    const others = groups.filter((group) => !group.get("SM")).map((group) => group.get("ID") ?? "");
    // With one sample, the tags of reads need not be looked at.
    const isOne = names.size === 1;
    const samples = named.map((group) => /** @type {[string, number]} */ ([group.get("ID"), indexOf(group.get("SM"))]));
    return {
      sampleOfGroup: new Map(isOne ? [] : samples),
      defaultSample: isOne ? indexOf([...names][0]) : null,
      groupsWithoutSample: others,
    };
  }

  /** @param {string} path @param {string[]} names @param {number[]} lengths */
  #knownContigs(path, names, lengths) {
    const all = names.map((name, index) => /** @type {[string, number]} */ ([name, lengths[index]]));
    const known = all.filter(([name]) => this.reference.contigs.has(name));
    // If the reference has none of them, the error names the first one.
    this.reference.checkContigs(path, known.length ? known : all);
    const missing = names.filter((name) => !this.reference.contigs.has(name));
    if (missing.length) {
      const count = `${missing.length} of its ${names.length} contigs are not in ${this.reference.path}`;
      this.tell(`${path}: ${count}, and are left out: ${listed(missing)}`);
    }
    return new Map(known);
  }
}

/**
 * The sample of a read group, which may be none (an empty text), and of the read with that name.
 *
 * @param {OpenAlignments} source
 * @param {string} group
 * @param {string} name
 */
export function sampleOf(source, group, name) {
  const sample = source.sampleOfGroup.get(group) ?? source.defaultSample;
  if (sample !== null) return sample;
  const why = source.groupsWithoutSample.includes(group) ? "has no sample (SM)" : "is not in the header";
  const rule = group ? `its read group ${quoted(group)} ${why}` : "no read group in a file of several samples";
  throw new InputProblem(source.path, `read ${name}`, rule, "run samtools addreplacerg");
}

/** The problem of a file that can't be read to its end. @param {OpenAlignments} source */
export function cutOff(source) {
  const cure =
    source.file instanceof Cram
      ? "it is cut off, or written with another reference: give that with -f"
      : "it is cut off or damaged: make it again";
  return new InputProblem(source.path, "", "can't be read to its end", cure);
}

/** @param {AlignmentFile} given @param {Reference} reference @param {Native} native */
async function opened(given, reference, native) {
  const file = new SourceFile(given.name, given.data);
  await checkPacking(file);
  await checkEnd(file);
  const head = await file.read(0, 18);
  /** @type {Bam | Cram | null} */
  let found = null;
  if (Cram.mayBe(head)) found = await Cram.open(file, given.index, reference);
  else if (Bam.mayBe(head)) found = await Bam.open(file, given.index, native);
  if (!found || !mayBeHeader(found.header.text)) {
    throw new InputProblem(given.name, "", OTHER_FORMAT, "give aligned reads as BAM or CRAM");
  }
  return found;
}

/** What the lines of a header say. @param {string} path @param {import("./bam.js").Header} header */
function parsedLines(path, header) {
  const texts = header.text.split("\n").map((line) => line.replace(/\r$/, ""));
  const lines = texts.filter((line) => line.trim()).map((line) => line.split("\t"));
  checkLines(path, lines);
  /** @param {string} kind */
  const of = (kind) => lines.filter((line) => line[0] === kind).map(fieldsOf);
  if (!header.names.length) throw new InputProblem(path, "", "its header has no contigs (@SQ)", "give aligned reads");
  const contigs = of("@SQ");
  const names = contigs.map((line) => line.get("SN"));
  if (new Set(header.names).size < header.names.length || new Set(names).size < names.length) {
    throw new InputProblem(path, "", "its header has a contig (@SQ) twice", MEND);
  }
  const groups = of("@RG");
  if (groups.some((group) => !group.has("ID"))) {
    throw new InputProblem(path, "", "a read group (@RG) of its header has no ID", "run samtools addreplacerg");
  }
  checkFields(path, contigs, ["SN", "LN"]);
  checkFields(path, of("@PG"), ["ID"]);
  /** @type {Map<string, string>} */
  const checksums = new Map();
  const known = new Set(header.names);
  for (const line of contigs) {
    const [name, length, sum] = ["SN", "LN", "M5"].map((field) => line.get(field) ?? "");
    if (name && sum) checksums.set(name, sum);
    // As in htslib, contigs of the text alone come last.
    if (!known.has(name)) {
      header.names.push(name);
      header.lengths.push(Number(length));
    }
  }
  return { order: of("@HD")[0]?.get("SO"), groups, checksums };
}

/** @param {string[]} line @returns {Map<string, string>} */
function fieldsOf([, ...fields]) {
  return new Map(fields.map((field) => [field.slice(0, 2), field.slice(3)]));
}

const KINDS = new Set(["@HD", "@SQ", "@RG", "@PG", "@CO"]);
const FIELD = /^..:/s;
const NUMBER = /^\s*[+-]?\d+\s*$/;

/** Whether htslib opens a file with this header: each line begins with @. @param {string} text */
function mayBeHeader(text) {
  const lines = text.replace(/\0.*$/s, "").replace(/\n$/, "");
  return lines === "" || lines.split("\n").every((line) => line.startsWith("@"));
}

/**
 * Requires lines of known kinds, whose fields have a name and a value.
 *
 * @param {string} path
 * @param {string[][]} lines fields of each
 */
function checkLines(path, lines) {
  for (const [kind, ...fields] of lines) {
    const isSound =
      KINDS.has(kind) && fields.length > 0 && (kind === "@CO" || fields.every((field) => FIELD.test(field)));
    if (!isSound) throw damaged(path);
    const length = kind === "@SQ" && fields.find((field) => field.startsWith("LN:"));
    if (length && !NUMBER.test(length.slice(3))) throw damaged(path);
  }
  if (lines.filter(([kind]) => kind === "@HD").length > 1) throw damaged(path);
}

/**
 * Requires the fields that each line of a kind has.
 *
 * @param {string} path
 * @param {Map<string, string>[]} lines
 * @param {string[]} needed
 */
function checkFields(path, lines, needed) {
  if (lines.some((line) => needed.some((name) => !line.has(name)))) throw damaged(path);
}

/** @param {string} path */
function damaged(path) {
  return new InputProblem(path, "", "its header can't be read: a line is damaged", "mend it with samtools reheader");
}
