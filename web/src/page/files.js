// Which file is what, which index belongs to which, and what is missing. Names decide, as for the command line's files.

/** @typedef {"alignments" | "reference" | "variants" | "primers" | "intervals" | "strModel" | "pedigree" | "tables"} Slot */
/** @typedef {{name: string, data: Blob | string, size: number | null}} Given a file, or a URL */

/** Endings of the files of each slot, and of the indexes beside them. */
const ENDINGS = {
  alignments: { data: [".bam", ".cram"], index: [".bai", ".csi", ".crai"] },
  reference: {
    data: [".fa", ".fasta", ".fna", ".fa.gz", ".fasta.gz", ".fna.gz", ".fa.bgz"],
    index: [".fai", ".gzi"],
  },
  variants: { data: [".vcf", ".vcf.gz", ".vcf.bgz"], index: [".tbi", ".csi"] },
  primers: { data: ["primer.bed", "primers.bed", "scheme.bed"].flatMap((end) => [end, `${end}.gz`]), index: [] },
  intervals: { data: [".bed", ".bed.gz"], index: [] },
  strModel: { data: [".toml"], index: [] },
  pedigree: { data: [".ped"], index: [] },
  tables: { data: [".tsv"], index: [] },
};
export const SLOTS = /** @type {Slot[]} */ (Object.keys(ENDINGS));

const READABLE =
  "BAM or CRAM, FASTA, VCF or BED (regions, or NAME.primer.bed), their indexes (.bai, .csi, .crai, .fai, .gzi, .tbi), an STR model (.toml), a pedigree (.ped), or tables of pairhmm map (.tsv)";

/** The files that were chosen. */
export class ChosenFiles {
  constructor() {
    /** @type {Map<string, Given>} by name */
    this.byName = new Map();
  }

  /**
   * Takes files. One of the same name takes the other's place.
   *
   * @param {Given[]} given
   * @returns {string[]} a line for each that is none of these kinds
   */
  add(given) {
    const problems = [];
    for (const one of given) {
      const slot = slotOf(one.name);
      if (slot === null) problems.push(`${one.name}: is no file that this page reads; give ${READABLE}`);
      else if (slot !== "index") this.#makeRoom(slot, one);
      if (slot !== null) this.byName.set(one.name, one);
    }
    return problems;
  }

  /** Takes out a file with its indexes. @param {string} name */
  remove(name) {
    for (const index of this.indexesOf(name)) this.byName.delete(index.name);
    this.byName.delete(name);
  }

  /** Of alignments and tables there may be several, of the others one. @param {Slot} slot @param {Given} one */
  #makeRoom(slot, one) {
    if (slot === "alignments" || slot === "tables") return;
    for (const other of this.of(slot)) if (other.name !== one.name) this.remove(other.name);
  }

  /** @param {Slot} slot @returns {Given[]} */
  of(slot) {
    return [...this.byName.values()].filter(({ name }) => slotOf(name) === slot);
  }

  /** The indexes of a file: NAME.bam.bai, or NAME.bai. @param {string} name @returns {Given[]} */
  indexesOf(name) {
    const slot = slotOf(name);
    if (slot === null || slot === "index") return [];
    const { data, index } = ENDINGS[slot];
    const stem = data.filter((end) => isEnding(name, end)).map((end) => name.slice(0, -end.length));
    const names = new Set(index.flatMap((end) => [name, ...stem].map((start) => start + end)));
    return [...this.byName.values()].filter((one) => names.has(one.name));
  }

  /** Indexes that belong to none of the other files. */
  strays() {
    const used = new Set(SLOTS.flatMap((slot) => this.of(slot).flatMap(({ name }) => this.indexesOf(name))));
    return [...this.byName.values()].filter((one) => slotOf(one.name) === "index" && !used.has(one));
  }

  /** What a slot lacks, as a line; empty if nothing. @param {Slot} slot */
  missing(slot) {
    const lacking = this.of(slot).filter(({ name }) => this.indexesOf(name).length === 0);
    if (slot === "alignments") {
      if (this.of(slot).length === 0) return "Needed: a BAM or CRAM, and its index";
      return lacking
        .map(({ name }) => `Index missing: ${name}${isEnding(name, ".cram") ? ".crai" : ".bai"}`)
        .join("; ");
    }
    if (slot === "reference" && this.of(slot).length === 0) return "Needed: the FASTA, and its .fai";
    return "";
  }

  /** The files of some slots, each with an index. @param {Slot[]} slots @returns {[Slot, Given, Given | undefined][]} */
  withIndexes(slots) {
    return slots.flatMap((slot) => this.of(slot).map((one) => [slot, one, this.indexesOf(one.name)[0]]));
  }

  /** What a run takes (src/call/run.js). */
  inputs() {
    const withIndex = (/** @type {Given} */ { name, data }) => ({ name, data, index: this.indexesOf(name)[0]?.data });
    const only = (/** @type {Slot} */ slot) => this.of(slot).map(withIndex)[0];
    const [reference] = this.of("reference");
    const beside = reference ? this.indexesOf(reference.name) : [];
    const ending = (/** @type {string} */ end) => beside.find(({ name }) => isEnding(name, end))?.data;
    return {
      alignments: this.of("alignments").map(withIndex),
      reference: reference && { name: reference.name, fasta: reference.data, fai: ending(".fai"), gzi: ending(".gzi") },
      variants: only("variants"),
      primers: only("primers"),
      intervals: only("intervals"),
      strModel: only("strModel"),
      pedigree: only("pedigree"),
    };
  }
}

/** A URL as what a run reads, named by the end of its path. @param {string} url @returns {Given} */
export function givenUrl(url) {
  return { name: decodeURIComponent(new URL(url).pathname.split("/").pop() ?? ""), data: url, size: null };
}

/** @param {string} name @param {string} end */
const isEnding = (name, end) => name.toLowerCase().endsWith(end);

/** @param {string} name @returns {Slot | "index" | null} */
function slotOf(name) {
  const found = SLOTS.find((slot) => ENDINGS[slot].data.some((end) => isEnding(name, end)));
  if (found) return found;
  return SLOTS.some((slot) => ENDINGS[slot].index.some((end) => isEnding(name, end))) ? "index" : null;
}
