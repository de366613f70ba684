// The calling core of a run (cpu/wasm/run.hpp): reads in, batches to score out, scores in, and regions with their records
// out. All coordinates are 0-based half-open.

import { offsets } from "../arrays.js";
import { Arrays } from "../cpu/native.js";
import { InputProblem } from "../files/problem.js";
import { STARTS } from "../models/profile.js";

/** @import { Batch } from "../batch.js" */
/** @import { ReadSelection } from "../files/alignment_parser.js" */
/** @import { Native } from "../cpu/native.js" */
/** @import { Variant } from "../files/candidates.js" */
/** @import { Interval } from "../files/intervals.js" */
/** @import { UnrolledReference } from "./circles.js" */
/** @import { SampleFamily } from "../files/ped.js" */
/** @import { ReadBlock } from "../files/read_block.js" */

/** @typedef {{log10: Float64Array, precision: Uint8Array}} Scores */

/** @typedef {"bases" | "quality" | "baseQuality" | "insertionQuality" | "deletionQuality" | "gapQuality"} ArrayOfRead */
/** @typedef {Record<ArrayOfRead, Uint8Array>} PreparedRead a read cut to its region: codes, Phred as sequenced, and what the model takes */
/** @typedef {{batch: Batch, prepared: (region: number, read: number) => PreparedRead}} BegunBatch a read by its region in the batch */

// The fields of a BatchView and a RegionView (cpu/wasm/run_exports.cpp).
const BATCH = {
  ...{ groupRead: Uint32Array, groupHaplotype: Uint32Array, readOffset: Uint32Array, haplotypeOffset: Uint32Array },
  ...{ haplotypes: Uint8Array, bases: Uint8Array, baseQuality: Uint8Array, insertionQuality: Uint8Array },
  ...{ deletionQuality: Uint8Array, gapQuality: Uint8Array, rows: Float64Array, kinds: Uint16Array },
  ...{ cutBases: Uint8Array, cutQuality: Uint8Array, preparedQuality: Uint8Array },
};
const REGION = {
  ...{ names: String, sample: Int32Array, flag: Uint16Array, mapq: Uint8Array },
  ...{ log10: Float64Array, precision: Uint8Array, records: String, likelihoods: Uint8Array, haplotypes: String },
};
// The fields of an EvidenceView (cpu/wasm/evidence.cpp).
const EVIDENCE = { reason: String, reads: String, alleles: String, windows: String, sites: String };
/** @typedef {import("../cpu/native.js").Copies<typeof REGION>} ScoredRegion arrays of a region's reads, and lines of the outputs */

// Candidates that are handed over at once.
const VARIANTS = 1024;

/** The core of one run, in an instance of our C++. */
export class Core {
  /**
   * @param {Native} native
   * @param {UnrolledReference} reference
   * @param {Map<string, number>} contigs in the order of the run, unrolled
   * @param {string[]} samples
   */
  constructor(native, reference, contigs, samples) {
    this.native = native;
    this.call = native.call;
    this.reference = reference;
    this.contigs = [...contigs.keys()];
    this.run = native.call.run_make();
    /** Row 0 of the model. */
    this.start = STARTS.anywhere;
    /** @type {AsyncIterator<Variant> | null} */
    this.listed = null;
    native.with((arrays) => {
      for (const [name, length] of contigs) this.call.run_add_contig(this.run, ...arrays.text(name), length);
      for (const [name, length] of reference.circles) {
        this.call.run_add_circle(this.run, this.contigs.indexOf(name), length);
      }
      for (const name of samples) this.call.run_add_sample(this.run, ...arrays.text(name));
    });
  }

  /** Sets an option. @param {string} name @param {number | boolean | null | ArrayLike<number>} value @returns {boolean} whether there is one of that name */
  set(name, value) {
    const values = Float64Array.from(typeof value === "object" && value ? value : [value ?? NaN], Number);
    return this.native.with((arrays) => {
      return this.call.run_set(this.run, ...arrays.text(name), arrays.pass(values), values.length) !== 0;
    });
  }

  /** Limits the run to intervals; null for everywhere. @param {Interval[] | null} requested @param {Interval[] | null} padded where candidates are sought */
  limitTo(requested, padded) {
    this.set("isLimited", requested !== null);
    for (const [isPadded, intervals] of [requested, padded].entries()) {
      for (const { chrom, start, end } of intervals ?? []) {
        this.call.run_add_interval(this.run, this.contigs.indexOf(chrom), start, end, isPadded);
      }
    }
  }

  /** @param {SampleFamily[]} families */
  addFamilies(families) {
    for (const { father, mother, children } of families) {
      this.native.with((arrays) =>
        this.call.run_add_family(this.run, father, mother, arrays.pass(Int32Array.from(children)), children.length),
      );
    }
  }

  /** Takes candidates from a list, in place of those that reads show. @param {AsyncIterator<Variant>} listed */
  take(listed) {
    this.set("isListed", true);
    this.listed = listed;
  }

  /** Looks at reads for the library's errors, before all others. Blocks are released. @param {AsyncIterable<ReadBlock>} blocks */
  async look(blocks) {
    for await (const block of blocks) {
      this.call.run_push(this.run, block.pointer);
      await this.step("run_look");
      block.release();
    }
    await this.step("run_end_look");
  }

  /** How many times as often as without PCR repeats stutter in these reads. */
  get stutter() {
    return this.call.run_stutter(this.run);
  }

  /** The gap qualities that they show, up to one, and that of continuing gaps. @param {number} quality @param {number} gap */
  estimatedGaps(quality, gap) {
    const all = [...this.native.taken(this.call.run_estimated_gaps(this.run, quality, gap))];
    const size = all.length / 3;
    const [insertion, deletion, continued] = [0, 1, 2].map((table) => all.slice(table * size, (table + 1) * size));
    return { insertion, deletion, gap: continued };
  }

  /**
   * Looks at what reads show at a position.
   *
   * @param {{chrom: string, position: number, all: ReadBlock | null, used: ReadBlock | null}} place reads around it, those that are used by themselves, too
   * @param {ReadSelection} selection which of them are used
   * @param {string[]} reasons why others are not
   */
  async explain({ chrom, position, all, used }, { excludedFlags, minMapq }, reasons) {
    const arrays = new Arrays(this.native);
    try {
      const [names] = arrays.text(reasons.join(""));
      const ends = arrays.pass(offsets(reasons.map((reason) => reason.length)).subarray(1));
      const place = [all?.pointer ?? 0, used?.pointer ?? 0, this.contigs.indexOf(chrom), position];
      await this.step("run_explain", [this.run, arrays.struct([...place, excludedFlags, minMapq, names, ends])]);
    } finally {
      arrays.release();
    }
  }

  /** Looks at the candidates there of the regions that were scored last. */
  async explainSites() {
    await this.step("run_explain_sites");
  }

  /** What was seen of the position, in words: why there is no candidate, and facts, one a line. */
  get explained() {
    const { reason, ...facts } = this.native.copies(EVIDENCE, (view) => this.call.run_explained(view));
    return { reason, facts: Object.values(facts).map((text) => (text ? text.split("\n") : [])) };
  }

  /** The batches of the regions that are complete, in order. Blocks are released. @param {AsyncIterable<ReadBlock>} blocks */
  async *batches(blocks) {
    for await (const block of blocks) {
      this.call.run_push(this.run, block.pointer);
      await this.step("run_advance");
      block.release();
      yield* this.#begun();
    }
    this.call.run_finish(this.run);
    await this.step("run_advance");
    yield* this.#begun();
  }

  /** The regions of the batch that was begun first, once it is scored. @param {Scores} scores @returns {Promise<ScoredRegion[]>} */
  async regions({ log10, precision }) {
    const { native, call, run } = this;
    native.with((arrays) => call.run_score(run, arrays.pass(log10), arrays.pass(precision)));
    await this.step("run_records");
    return Array.from({ length: call.run_regions(run) }, (_, i) =>
      native.copies(REGION, (view) => call.run_region(run, i, view)),
    );
  }

  /** The lines of the VCF behind the last record. */
  async rest() {
    await this.step("run_end");
    return this.native.text((view) => this.call.run_rest(this.run, view));
  }

  /** What was counted, by name. @returns {Record<string, any>} */
  get counts() {
    const lines = this.native.text((view) => this.call.run_counts(this.run, view)).split("\n");
    return Object.fromEntries(
      lines.map((line) => {
        const [name, value] = line.split("\t");
        return [name, /^-?\d+$/.test(value) ? Number(value) : value];
      }),
    );
  }

  /** Takes a step, again and again, until it lacks nothing. @param {string} verb @param {number[]} given */
  async step(verb, given = [this.run]) {
    while (!this.call[verb](...given)) {
      await this.#handOverReference();
      if (this.call.run_lacks_variants(this.run)) await this.#handOverVariants();
    }
  }

  async #handOverReference() {
    const missing = this.native.taken(this.call.run_missing(this.run));
    for (let i = 0; i < missing.length; i += 4) {
      const [contig, start, end, isNeeded] = missing.subarray(i, i + 4);
      const bases = await this.#bases(this.contigs[contig], start, end, isNeeded !== 0);
      this.native.with((arrays) => this.call.run_put(this.run, contig, start, ...arrays.text(bases)));
    }
  }

  /**
   * Bases that may be needed. What can't be read becomes a null character: it may lie beside what is needed.
   *
   * @param {string} chrom
   * @param {number} start
   * @param {number} end
   * @param {boolean} isNeeded
   * @returns {Promise<string>}
   */
  async #bases(chrom, start, end, isNeeded) {
    try {
      return await this.reference.fetch(chrom, start, end);
    } catch (error) {
      if (isNeeded || !(error instanceof InputProblem)) throw error;
      if (end - start === 1) return "\0";
      const middle = (start + end) >> 1;
      return (await this.#bases(chrom, start, middle, false)) + (await this.#bases(chrom, middle, end, false));
    }
  }

  async #handOverVariants() {
    for (let count = 0; count < VARIANTS; count++) {
      const { value, done } = await /** @type {AsyncIterator<Variant>} */ (this.listed).next();
      if (done) return this.call.run_end_variants(this.run);
      const { chrom, pos, recordIndex } = value;
      const contig = this.contigs.indexOf(chrom);
      this.native.with((arrays) =>
        this.call.run_add_variant(this.run, contig, pos, recordIndex, ...arrays.text(textOf(value))),
      );
    }
  }

  /** @returns {Generator<BegunBatch>} */
  *#begun() {
    while (this.call.run_begin(this.run)) {
      const all = this.native.copies(BATCH, (view) => this.call.run_batch(this.run, view));
      const { cutBases, cutQuality, preparedQuality, ...arrays } = all;
      const [groups, pairs] = [arrays.groupRead.length - 1, this.call.run_pairs(this.run)];
      const batch = { groups, pairs, ...arrays, flags: new Uint8Array(0), ...this.start };
      const { groupRead, readOffset, insertionQuality, deletionQuality, gapQuality } = batch;
      const indels = { insertionQuality, deletionQuality, gapQuality };
      const ofReads = { bases: cutBases, quality: cutQuality, baseQuality: preparedQuality, ...indels };
      const prepared = (/** @type {number} */ region, /** @type {number} */ number) => {
        const own = [readOffset[groupRead[region] + number], readOffset[groupRead[region] + number + 1]];
        const arrays = Object.entries(ofReads).map(([name, of]) => [name, of.slice(...own)]);
        return /** @type {PreparedRead} */ (Object.fromEntries(arrays));
      };
      yield { batch, prepared };
    }
  }
}

/** A candidate's fields, with tabs between them. @param {Variant} variant */
function textOf({ id, ref, alts }) {
  return [id, ref, ...alts].join("\t");
}

/**
 * The extent of a candidate: its reference bases, and those to which its insertions and deletions can be shifted.
 *
 * @param {Native} native
 * @param {UnrolledReference} reference
 * @param {Variant} variant
 */
export async function variantExtent(native, reference, variant) {
  const { chrom, pos, ref } = variant;
  const shift = native.call.max_shift();
  const bases = await reference.fetch(chrom, pos - shift, pos + ref.length + shift);
  return native.with((arrays) => {
    const extent = arrays.room(8);
    native.call.variant_extent(pos, ...arrays.text(textOf(variant)), ...arrays.text(bases), extent);
    const [start, end] = arrays.read(Int32Array, extent, 2);
    return { chrom, start, end };
  });
}
