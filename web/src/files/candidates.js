// Reads candidate variants from VCF (pairhmm/variants/candidates.py).

import { checkNames, forShell, quoted, sameContig } from "./names.js";
import { MOST_DIGITS, rankOf } from "./intervals.js";
import { InputProblem } from "./problem.js";
import { SourceFile } from "./sources.js";
import { textLines } from "./text_lines.js";

/** @import { UnrolledReference } from "../call/circles.js" */
/** @import { Source } from "./sources.js" */

/**
 * @typedef {object} Variant
 * @property {string} chrom
 * @property {number} pos 0-based
 * @property {string} ref
 * @property {string[]} alts
 * @property {string} id of its record; empty without one
 * @property {number} recordIndex of its record in the file
 */

const BASES = /^[ACGTN]+$/;
const REFERENCE_LETTERS = /^[GATCRYWSMKHBVDN]+$/;
const OTHER_ALLELE = /^(<.*>|\*|\.|.*[[\]].*|\.[A-Z]+|[A-Z]+\.|[GATCRYWSMKHBVDN]+)$/;
const CONTIG_LINE = /^##contig=<(?:.*,)?ID=([^,>]+)/;
const REMADE = "is it made with another reference?";

/**
 * The variants of a VCF file, which needs no index and no contig lines. Its contigs may come in any order, each with its
 * records together.
 */
export class CandidateReader {
  /**
   * @param {{name: string, data: Source}} given
   * @param {Map<string, number>} contigs in the order that the variants are given in
   * @param {UnrolledReference} reference
   * @param {boolean} skipUnknown skip records on other contigs, because nothing there is asked for
   * @param {(text: string) => void} warn
   */
  constructor(given, contigs, reference, skipUnknown, warn) {
    this.path = given.name;
    this.file = new SourceFile(given.name, given.data);
    this.contigs = contigs;
    this.reference = reference;
    this.skipUnknown = skipUnknown;
    this.warn = warn;
  }

  /** @returns {AsyncGenerator<Variant>} */
  async *variants() {
    const rank = rankOf(this.contigs.keys());
    let [lastRank, lastPos] = [-1, -1];
    let [skippedAlleles, skippedRecords, skippedTelomeres] = [0, 0, 0];
    for await (const { index, chrom, pos, id, ref, alts } of this.#inOrder(rank)) {
      const place = `${chrom}:${pos + 1}`;
      checkNames(this.path, `${place}: ID`, [id], "rename or remove it");
      const own = rank.get(chrom);
      if (own === undefined) {
        if (this.skipUnknown) continue;
        const other = sameContig(chrom, rank.keys());
        const cure = other ? `the reference names it ${quoted(other)}` : "give variants of this reference";
        throw new InputProblem(this.path, place, "contig is not in the reference", cure);
      }
      if (this.#isTelomere(chrom, pos, alts)) {
        skippedTelomeres++;
        continue;
      }
      this.#checkAlleles(place, ref, alts);
      await this.#checkReference(place, chrom, pos, ref);
      if (own < lastRank || (own === lastRank && pos < lastPos)) {
        throw new InputProblem(this.path, place, "the records are not sorted", `run ${sorting(this.path)}`);
      }
      [lastRank, lastPos] = [own, pos];
      const kept = alts.filter((alt) => alt !== ref && BASES.test(alt));
      skippedAlleles += alts.length - kept.length;
      if (kept.length) yield { chrom, pos, ref, alts: kept, id, recordIndex: index };
      else skippedRecords++;
    }
    if (skippedAlleles || skippedRecords) {
      const alleles = `${skippedAlleles} symbolic, *, breakend or ambiguous alleles skipped`;
      this.warn(`${this.path}: ${alleles}, and ${skippedRecords} records with no other allele`);
    }
    if (skippedTelomeres) {
      const where = "at telomeres (POS 0, or behind the last base)";
      this.warn(`${this.path}: ${skippedTelomeres} records ${where} skipped`);
    }
  }

  /** The records with their numbers in the file, from 0, and contigs in the order of `rank`. @param {Map<string, number>} rank */
  async *#inOrder(rank) {
    for (const contigs of await this.#passes(rank)) {
      let index = -1;
      for await (const record of this.#records()) {
        index++;
        if (!contigs || contigs.has(record.chrom)) yield { index, ...record };
      }
    }
  }

  /**
   * The contigs whose records each pass over the file takes; null for all.
   *
   * One pass is enough where the header says that contigs come in order. Elsewhere, a first look shows their order. A
   * file in which a contig comes twice is not sorted, and is given as it is.
   *
   * @param {Map<string, number>} rank
   * @returns {Promise<(Set<string> | null)[]>}
   */
  async #passes(rank) {
    const named = (await this.#headerContigs()).flatMap((name) => rank.get(name) ?? []);
    if (named.length && named.every((own, at) => !at || named[at - 1] <= own)) return [null];
    /** @type {string[]} */
    const order = [];
    for await (const { chrom } of this.#records()) if (order.at(-1) !== chrom) order.push(chrom);
    const place = rankOf(order);
    const passes = [new Set(order.filter((name) => !rank.has(name)))];
    let last = -1;
    for (const name of [...rank.keys()].filter((name) => place.has(name))) {
      const own = /** @type {number} */ (place.get(name));
      if (own < last) passes.push(new Set());
      passes[passes.length - 1].add(name);
      last = own;
    }
    return passes.length > 1 && place.size === order.length ? passes : [null];
  }

  async #headerContigs() {
    /** @type {string[]} */
    const names = [];
    for await (const lines of textLines(this.file)) {
      for (const line of lines) {
        if (!line.startsWith("#")) return names;
        const found = CONTIG_LINE.exec(line);
        if (found) names.push(found[1]);
      }
    }
    return names;
  }

  /** Whether a record lies before the first base, or is a breakend or symbolic allele behind the last one. @param {string} chrom @param {number} pos @param {string[]} alts */
  #isTelomere(chrom, pos, alts) {
    return pos < 0 || (pos === this.contigs.get(chrom) && !alts.some((alt) => BASES.test(alt)));
  }

  async *#records() {
    let seenHeader = false;
    let number = 0;
    for await (const lines of textLines(this.file)) {
      for (const line of lines) {
        number++;
        if (number === 1 && line.startsWith("BCF")) {
          const cure = `run bcftools view -Oz -o variants.vcf.gz ${forShell(this.path)}`;
          throw new InputProblem(this.path, "", "is BCF, which only the command line reads", cure);
        }
        if (line.startsWith("#")) {
          seenHeader ||= line.startsWith("##fileformat=VCF") || line.startsWith("#CHROM");
          continue;
        }
        if (!line) continue;
        const cure = "it must begin with ##fileformat=VCF";
        if (!seenHeader) throw new InputProblem(this.path, `line ${number}`, "not a VCF file", cure);
        yield fieldsOf(this.path, number, line);
      }
    }
    if (!seenHeader) throw new InputProblem(this.path, "", "not a VCF file", "it must begin with ##fileformat=VCF");
  }

  /** @param {string} place @param {string} ref @param {string[]} alts */
  #checkAlleles(place, ref, alts) {
    if (!REFERENCE_LETTERS.test(ref)) {
      const cure = "write the reference's bases there (bcftools norm -c s -f REFERENCE)";
      throw new InputProblem(this.path, place, `REF ${quoted(short(ref))} is not a sequence of bases`, cure);
    }
    const wrong = alts.find((alt) => !BASES.test(alt) && !OTHER_ALLELE.test(alt));
    if (wrong === undefined) return;
    const rule = `ALT ${quoted(short(wrong))} is neither bases nor another of VCF's alleles`;
    throw new InputProblem(this.path, place, rule, "repair or remove the record");
  }

  /** @param {string} place @param {string} chrom @param {number} pos @param {string} ref */
  async #checkReference(place, chrom, pos, ref) {
    const length = /** @type {number} */ (this.contigs.get(chrom));
    const bases = await this.reference.fetch(chrom, pos, pos + ref.length);
    if (pos >= length || bases.length < ref.length) {
      throw new InputProblem(this.path, place, `outside ${chrom}, which has ${length} bases`, REMADE);
    }
    // Where the reference has an IUPAC code, the VCF may have N, and the other way round.
    const isBase = /[ACGT]/;
    for (let i = 0; i < ref.length; i++) {
      if (ref[i] !== bases[i] && isBase.test(ref[i]) && isBase.test(bases[i])) {
        throw new InputProblem(this.path, place, `REF ${short(ref)} is ${short(bases)} in the reference`, REMADE);
      }
    }
  }
}

/** @param {string} path @param {number} number @param {string} line */
function fieldsOf(path, number, line) {
  const [chrom, pos, id, ref, alt] = line.split("\t", 5);
  if (alt === undefined || !/^\d+$/.test(pos) || pos.length > MOST_DIGITS) {
    throw new InputProblem(path, `line ${number}`, "not a VCF record", "the file may be cut off");
  }
  const alts = alt === "." ? [] : alt.toUpperCase().split(",");
  return { chrom, pos: Number(pos) - 1, id: id === "." ? "" : id, ref: ref.toUpperCase(), alts };
}

/** The command that sorts a list. @param {string} path */
function sorting(path) {
  const name = forShell(path);
  const header = `zgrep '^#' ${name} | grep -v '^##contig='`;
  return `(${header}; zgrep -v '^#' ${name} | sort -k1,1 -k2,2n) > sorted.vcf`;
}

/** @param {string} bases */
function short(bases) {
  return bases.length <= 20 ? bases : `${bases.slice(0, 20)}...`;
}
