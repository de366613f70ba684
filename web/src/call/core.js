// The calling core of a run (cpu/wasm/run.hpp): reads in, batches to score out, scores in, and regions with their sites
// out. All coordinates are 0-based half-open.

import { InputProblem } from "../files/problem.js";

/** @typedef {import("../batch.js").Batch} Batch */
/** @typedef {import("../cpu/native.js").Native} Native */
/** @typedef {import("../cpu/native.js").Place} Place */
/** @typedef {import("../files/candidates.js").Variant} Variant */
/** @typedef {import("../files/fasta.js").Reference} Reference */
/** @typedef {import("../files/intervals.js").Interval} Interval */
/** @typedef {import("../files/read_block.js").ReadBlock} ReadBlock */
/** @typedef {import("./pedigree.js").SampleFamily} SampleFamily */

/** @typedef {{log10: Float64Array, precision: Uint8Array}} Scores */

/**
 * A read cut to its region, with what the model takes of it.
 *
 * @typedef {object} PreparedRead
 * @property {Uint8Array} bases codes
 * @property {Uint8Array} quality Phred, as sequenced
 * @property {Uint8Array} baseQuality Phred, prepared
 * @property {Uint8Array} insertionQuality empty for the profile model
 * @property {Uint8Array} deletionQuality
 * @property {Uint8Array} gapQuality
 */

/** @typedef {{batch: Batch, prepared: (read: number) => PreparedRead}} BegunBatch */

/**
 * A scored region: arrays of its reads, and lines of the outputs.
 *
 * @typedef {object} ScoredRegion
 * @property {string[]} names
 * @property {Int32Array} sample index into the run's samples
 * @property {Uint16Array} flag SAM flags
 * @property {Uint8Array} mapq
 * @property {Uint8Array} setAside 1 for reads that genotypes were made without
 * @property {Float64Array} log10 log10 P(read | haplotype): [reads][haplotypes]
 * @property {Uint8Array} precision the arithmetic of each score
 * @property {string} records lines of the VCF, of a gVCF with the blocks before each record
 * @property {Uint8Array<ArrayBuffer>} likelihoods lines of the table of likelihoods, as bytes
 * @property {string} haplotypes lines of the table of haplotypes
 */

// The fields of a BatchView and a RegionView (cpu/wasm/run_exports.cpp).
const OF_BATCH = /** @type {const} */ ([
  ...["groupRead", "groupHaplotype", "readOffset", "haplotypeOffset", "haplotypes", "bases", "baseQuality"],
  ...["insertionQuality", "deletionQuality", "gapQuality", "rows", "kinds", "cutBases", "cutQualities"],
]);
const OF_REGION = /** @type {const} */ ([
  ...["names", "nameEnd", "sample", "flag", "mapq", "setAside", "log10", "precision"],
  ...["records", "likelihoods", "haplotypes"],
]);
// Candidates that are handed over at once.
const VARIANTS = 1024;

/** The core of one run, in an instance of our C++. */
export class Core {
  /**
   * @param {Native} native
   * @param {Reference} reference
   * @param {Map<string, number>} contigs in the order of the run
   * @param {string[]} samples
   */
  constructor(native, reference, contigs, samples) {
    this.native = native;
    this.call = native.call;
    this.reference = reference;
    this.contigs = [...contigs.keys()];
    this.run = native.call.run_make();
    this.start = { match: 0, deletion: 1 };
    /** @type {AsyncIterator<Variant> | null} */
    this.listed = null;
    for (const [name, length] of contigs) native.with((arrays) => this.#tell("add_contig", arrays.text(name), length));
    for (const name of samples) native.with((arrays) => this.#tell("add_sample", arrays.text(name)));
  }

  /** @param {string} verb @param {number[]} text @param {number[]} others */
  #tell(verb, text, ...others) {
    this.call[`run_${verb}`](this.run, ...text, ...others);
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

  /** The batches of the regions that are complete, in order. Blocks are released. @param {AsyncIterable<ReadBlock>} blocks */
  async *batches(blocks) {
    for await (const block of blocks) {
      this.call.run_push(this.run, block.pointer);
      await this.#step("run_advance");
      block.release();
      yield* this.#begun();
    }
    this.call.run_finish(this.run);
    await this.#step("run_advance");
    yield* this.#begun();
  }

  /** Takes a step, again and again, until it lacks nothing. @param {string} verb */
  async #step(verb) {
    while (!this.call[verb](this.run)) {
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
      this.native.with((arrays) => {
        const contig = this.contigs.indexOf(chrom);
        this.call.run_add_variant(this.run, contig, pos, recordIndex, ...arrays.text(textOf(value)));
      });
    }
  }

  /** @returns {Generator<BegunBatch>} */
  *#begun() {
    while (this.call.run_begin(this.run)) {
      yield this.#batch(this.native.places(OF_BATCH, (view) => this.call.run_batch(this.run, view)));
    }
  }

  /** @param {Record<typeof OF_BATCH[number], Place>} places @returns {BegunBatch} */
  #batch(places) {
    const { native } = this;
    const offsets = (/** @type {typeof OF_BATCH[number]} */ name) => native.copy(Uint32Array, places[name]);
    const bytes = (/** @type {typeof OF_BATCH[number]} */ name) => native.copy(Uint8Array, places[name]);
    const [groupRead, groupHaplotype, readOffset] = [offsets("groupRead"), offsets("groupHaplotype"), offsets("readOffset")];
    const groups = groupRead.length - 1;
    let pairs = 0;
    for (let g = 0; g < groups; g++) {
      pairs += (groupRead[g + 1] - groupRead[g]) * (groupHaplotype[g + 1] - groupHaplotype[g]);
    }
    const baseQuality = bytes("baseQuality");
    const rows = native.copy(Float64Array, places.rows);
    const batch = {
      ...{ groups, pairs, groupRead, groupHaplotype, readOffset, rows },
      haplotypeOffset: offsets("haplotypeOffset"),
      haplotypes: bytes("haplotypes"),
      bases: bytes("bases"),
      baseQuality: rows.length ? new Uint8Array(0) : baseQuality,
      insertionQuality: bytes("insertionQuality"),
      deletionQuality: bytes("deletionQuality"),
      gapQuality: bytes("gapQuality"),
      kinds: native.copy(Uint16Array, places.kinds),
      startMatch: this.start.match,
      startDeletion: this.start.deletion,
    };
    const [cutBases, cutQualities] = [bytes("cutBases"), bytes("cutQualities")];
    const { insertionQuality, deletionQuality, gapQuality } = batch;
    const all = { bases: cutBases, quality: cutQualities, baseQuality, insertionQuality, deletionQuality, gapQuality };
    const prepared = (/** @type {number} */ read) => {
      const own = Object.entries(all).map(([name, of]) => [name, of.slice(readOffset[read], readOffset[read + 1])]);
      return /** @type {PreparedRead} */ (Object.fromEntries(own));
    };
    return { batch, prepared };
  }

  /** The regions of the batch that was begun first, once it is scored. @param {Scores} scores @returns {Promise<ScoredRegion[]>} */
  async regions({ log10, precision }) {
    const count = this.native.with((arrays) => {
      return this.call.run_score(this.run, arrays.pass(log10), arrays.pass(precision));
    });
    await this.#step("run_records");
    return Array.from({ length: count }, (_, number) => this.#region(number));
  }

  /** @param {number} number @returns {ScoredRegion} */
  #region(number) {
    const { native } = this;
    const at = native.places(OF_REGION, (view) => this.call.run_region(this.run, number, view));
    return {
      names: native.texts(at.names, at.nameEnd),
      sample: native.copy(Int32Array, at.sample),
      flag: native.copy(Uint16Array, at.flag),
      mapq: native.copy(Uint8Array, at.mapq),
      setAside: native.copy(Uint8Array, at.setAside),
      log10: native.copy(Float64Array, at.log10),
      precision: native.copy(Uint8Array, at.precision),
      records: native.text(at.records),
      likelihoods: new Uint8Array(native.view(Uint8Array, at.likelihoods)),
      haplotypes: native.text(at.haplotypes),
    };
  }

  /** The lines of the VCF behind the last record. */
  async rest() {
    await this.#step("run_end");
    return this.native.filled((view) => this.call.run_rest(this.run, view));
  }

  /** What was counted, by name. @returns {Record<string, any>} */
  get counts() {
    const text = this.native.filled((view) => this.call.run_counts(this.run, view));
    return Object.fromEntries(
      text.split("\n").map((line) => {
        const [name, value] = line.split("\t");
        return [name, /^-?\d+$/.test(value) ? Number(value) : value];
      }),
    );
  }
}

/** A candidate's fields, with tabs between them. @param {Variant} variant */
export function textOf({ id, ref, alts }) {
  return [id, ref, ...alts].join("\t");
}

/** The INFO fields of records behind the counts, each of which is one Float. @param {Native} native */
export function infoFields(native) {
  const text = native.filled((view) => native.call.info_fields(view));
  return text.split("\n").map((line) => {
    const [id, description] = line.split("\t");
    return { id, description };
  });
}

/**
 * The extent of a candidate: its reference bases, and those to which its insertions and deletions can be shifted.
 *
 * @param {Native} native
 * @param {Reference} reference
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
