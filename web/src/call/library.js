// Looks at some of a run's reads for the library's errors (pairhmm/calling/stutter.py): how often repeats stutter, errors
// of one strand share a cause, reads are foreign, and a mixture's bases are read as others. What they show is computed by
// the core.

import { between, distinct, readDensities } from "../files/read_density.js";
import { ReadBlock, together } from "../files/read_block.js";
import { readBlocks } from "../files/read_blocks.js";
import { LeftOut } from "../files/selection.js";
import { InputProblem } from "../files/problem.js";
import { LOOK, OPTIONS, READ_PRESETS, STR_TABLES } from "../models/parameters.js";
import { setGaps } from "./options.js";

/** @import { AlignmentReader, OpenAlignments } from "../files/alignments.js" */
/** @import { Interval } from "../files/intervals.js" */
/** @import { ReadDensity } from "../files/read_density.js" */
/** @import { StrModel } from "../files/str_file.js" */
/** @import { Core } from "./core.js" */
/** @import { CallOptions } from "./options.js" */

// Reads that are taken at once. The work of a base without reads, in reads (pairhmm/calling/shards.py).
const [CHUNK, BASE_WORK] = [250, 1e-6];
const GAPS = ["insertionQuality", "deletionQuality", "gapQuality", "pcrIndelModel"];

/**
 * Gives the core what some reads show. Returns the STR model that repeats ask for; without that, the given one.
 *
 * @param {Core} core
 * @param {AlignmentReader} reader
 * @param {Map<string, number>} contigs
 * @param {CallOptions} options
 * @param {StrModel | null} strModel
 * @param {(text: string) => void} tell
 */
export async function lookAtLibrary(core, reader, contigs, options, strModel, tell) {
  if (!options.stutter) return strModel;
  const look = new Look(core, reader, contigs, options);
  try {
    await core.look(look.blocks());
  } catch (error) {
    // The run itself says what is wrong, if it comes there.
    if (!(error instanceof InputProblem)) throw error;
    return strModel;
  }
  const excess = core.stutter;
  if (strModel || !seesGaps(options)) return strModel;
  const isMore = excess >= LOOK.excess;
  // An estimated model has the rates of the reads.
  if (!(isMore && look.isLong)) core.set("seesSlips", 1);
  if (!isMore) return strModel;
  const found = look.isLong ? estimated(core, options) : { name: "pcr", ...STR_TABLES.pcr };
  tell(`repeats stutter ${excess.toFixed(1)} times as often as without PCR: STR model ${found.name}`);
  setGaps(core, options, found);
  return found;
}

/** Whether the qualities of gaps are those of a preset: otherwise, options say what gaps are like. @param {CallOptions} options */
function seesGaps(options) {
  const presets = Object.values(READ_PRESETS).map((preset) => ({ ...OPTIONS, ...preset }));
  return options.model === "gatk" && presets.some((preset) => GAPS.every((name) => options[name] === preset[name]));
}

/** @param {Core} core @param {CallOptions} options @returns {StrModel} */
function estimated(core, { insertionQuality, deletionQuality, gapQuality }) {
  core.set("slipSpread", LOOK.spreadOfLong);
  return { name: "estimated", ...core.estimatedGaps(Math.min(insertionQuality, deletionQuality), gapQuality) };
}

/** The reads that are looked at: from places that are spread over the files; without an index, the first ones. */
class Look {
  /** @param {Core} core @param {AlignmentReader} reader @param {Map<string, number>} contigs @param {CallOptions} options */
  constructor(core, { sources }, contigs, options) {
    this.core = core;
    this.sources = sources;
    this.contigs = contigs;
    this.options = options;
    this.reads = this.bases = 0;
    /** Reads that are taken from all places together. */
    this.wanted = options.mixture ? LOOK.ofMixture : LOOK.fewest;
    /** @type {(Interval | null)[]} */
    this.places = [null];
    if (sources.every(({ file }) => file.hasIndex)) this.#choosePlaces();
  }

  get isLong() {
    return this.bases >= LOOK.long * this.reads;
  }

  /** @returns {AsyncGenerator<ReadBlock>} */
  async *blocks() {
    for (const place of this.places) {
      for await (const block of this.#at(place)) {
        this.reads += block.length;
        this.bases += block.baseOffset[block.length];
        yield block;
      }
    }
  }

  #choosePlaces() {
    const work = new Work(this.contigs, this.sources);
    const most = this.options.mixture ? LOOK.ofMixture : LOOK.most;
    this.wanted = Math.trunc(Math.min(most, Math.max(this.wanted, LOOK.share * work.total)));
    if (work.total <= 2 * this.wanted) return;
    const count = Math.max(LOOK.windows, Math.floor(this.wanted / LOOK.ofWindow));
    const starts = Array.from({ length: count }, (_, number) => {
      const { chrom, at } = work.locusAt((number + 0.5) / count);
      return { chrom, start: Math.floor(at / LOOK.indexed) * LOOK.indexed };
    });
    // Reads of a small or deep file begin in a few parts of its index.
    const begins = starts.filter(
      ({ chrom, start }, i) => i === 0 || chrom !== starts[i - 1].chrom || start !== starts[i - 1].start,
    );
    // The index of a CRAM counts bytes in place of reads: a window may have fewer reads than are wanted of it.
    this.places = begins.map(({ chrom, start }, i) => {
      const next = begins[i + 1];
      const end = next?.chrom === chrom ? next.start : /** @type {number} */ (this.contigs.get(chrom));
      return { chrom, start, end: Math.min(end, start + LOOK.span) };
    });
  }

  /** Reads in a place: those of a contig together, which are counted in less time. @param {Interval | null} place @returns {AsyncGenerator<ReadBlock>} */
  async *#at(place) {
    /** @type {ReadBlock[]} */
    let taken = [];
    let [reads, bases, held] = [0, 0, 0];
    for await (const block of this.#chunks(place)) {
      if (taken.length && taken[0].chrom !== block.chrom) {
        yield together(taken);
        [taken, held] = [[], 0];
      }
      taken.push(block);
      [reads, held] = [reads + block.length, held + block.length];
      bases += block.baseOffset[block.length];
      if (this.#isEnough(reads, bases)) break;
      if (this.options.mixture && held >= LOOK.atOnce) {
        yield together(taken);
        [taken, held] = [[], 0];
      }
    }
    if (taken.length) yield together(taken);
  }

  /** @param {number} reads @param {number} bases of a place */
  #isEnough(reads, bases) {
    const share = this.options.mixture ? 0 : bases / LOOK.bases / this.sources.length;
    return Math.max(reads / this.wanted, share) * this.places.length >= 1;
  }

  /** @param {Interval | null} place */
  #chunks(place) {
    const { core, sources, contigs, options } = this;
    const selection = { ...options, indelTags: false, trimsEnds: false };
    const request = { contigs: [...contigs.keys()], selection, chunkSize: CHUNK, regions: place && [place] };
    const blocks = readBlocks(core.native, sources, request, null, new LeftOut());
    return sources.length === 1 ? blocks : inChunks(blocks);
  }
}

/** Blocks of as many reads as those of one input have; fewer at the end of a contig. @param {AsyncIterable<ReadBlock>} blocks @returns {AsyncGenerator<ReadBlock>} */
async function* inChunks(blocks) {
  /** @type {ReadBlock | null} */
  let held = null;
  for await (const block of blocks) {
    if (held && held.chrom !== block.chrom) {
      yield held;
      held = null;
    }
    /** @type {ReadBlock} */
    let rest = held ? together([held, block]) : block;
    for (; rest.length > CHUNK; rest = cut(rest, CHUNK, rest.length, true)) yield cut(rest, 0, CHUNK, false);
    held = rest;
  }
  if (held) yield held;
}

/** @param {ReadBlock} block @param {number} first @param {number} end @param {boolean} isLast */
function cut(block, first, end, isLast) {
  const part = ReadBlock.merged([{ block, first, end }]);
  if (isLast) block.release();
  return part;
}

/** The reads on contigs, as far as indexes tell, and the positions at which shares of them lie (pairhmm/calling/shards.py). */
class Work {
  /** @param {Map<string, number>} contigs @param {OpenAlignments[]} sources */
  constructor(contigs, sources) {
    this.densities = sources.map(readDensities);
    this.contigs = [...contigs];
    this.done = [0];
    for (const [chrom, length] of this.contigs) {
      const own = this.#upto(chrom, length) - this.#upto(chrom, 0);
      this.done.push(this.done[this.done.length - 1] + own);
    }
  }

  get total() {
    return this.done[this.done.length - 1];
  }

  /** @param {string} chrom @returns {ReadDensity[]} */
  #of(chrom) {
    return this.densities.flatMap((density) => density.get(chrom) ?? []);
  }

  /** @param {string} chrom @param {number} position */
  #upto(chrom, position) {
    return this.#of(chrom).reduce(
      (work, { edges, before }) => work + between(position, edges, before),
      BASE_WORK * position,
    );
  }

  /** The first position before which at least this share of all work lies. @param {number} share */
  locusAt(share) {
    const goal = share * this.total;
    const behind = this.done.findIndex((done) => done > goal);
    const index = Math.min(behind < 0 ? this.done.length : behind, this.contigs.length) - 1;
    const [chrom, length] = this.contigs[index];
    const edges = this.#of(chrom).flatMap((density) => density.edges);
    const positions = distinct([0, length, ...edges.map((edge) => Math.min(Math.max(edge, 0), length))]);
    const before = this.#upto(chrom, 0);
    const done = positions.map((position) => this.#upto(chrom, position) - before);
    return { chrom, at: Math.ceil(between(goal - this.done[index], done, positions)) };
  }
}
