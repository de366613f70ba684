// Circular contigs (pairhmm/calling/circles.py): a run has them unrolled, three times, end to end, of which the second
// turn is asked for. Scored regions lie on the contig. All coordinates are 0-based half-open.

import { noContig } from "../files/intervals.js";
import { ReadBlock } from "../files/read_block.js";
import { readBlocks } from "../files/read_blocks.js";
import { LeftOut } from "../files/selection.js";

/** @import { OpenAlignments } from "../files/alignments.js" */
/** @import { Variant } from "../files/candidates.js" */
/** @import { Reference } from "../files/fasta.js" */
/** @import { Interval } from "../files/intervals.js" */
/** @import { ReadRequest } from "../files/read_blocks.js" */
/** @import { Core } from "./core.js" */

const [TURNS, NEAR_ORIGIN] = [3, -1];

/** The reference of a run, with its circular contigs unrolled. */
export class UnrolledReference {
  /** @param {Reference} genome @param {string[]} circular */
  constructor(genome, circular) {
    for (const name of circular) {
      if (!genome.contigs.has(name)) throw noContig("--circular", name, name, genome.contigs);
    }
    this.genome = genome;
    this.path = genome.path;
    /** Names of circular contigs, and their bases. */
    this.circles = new Map(circular.map((name) => [name, genome.length(name)]));
    /** Names and lengths, unrolled. */
    this.contigs = this.unrolled(genome.contigs);
  }

  /** Requires that alignments, which have these contigs, have each circle. @param {Map<string, number>} contigs @param {string[]} paths */
  checkAligned(contigs, paths) {
    for (const name of this.circles.keys()) {
      if (!contigs.has(name)) throw noContig("--circular", paths.join(", "), name, contigs);
    }
  }

  /** Contigs with the lengths that they have unrolled. @param {Map<string, number>} contigs */
  unrolled(contigs) {
    return new Map([...contigs].map(([name, length]) => [name, this.circles.has(name) ? TURNS * length : length]));
  }

  /** The length of a contig in the file. @param {string} chrom */
  length(chrom) {
    return this.genome.length(chrom);
  }

  /** Where the second turn of a circle begins; 0 for other contigs. @param {string} chrom */
  onContig(chrom) {
    return this.circles.get(chrom) ?? 0;
  }

  /** Upper-case bases of [start, end), clamped to the contig. @param {string} chrom @param {number} start @param {number} end */
  async fetch(chrom, start, end) {
    const length = this.circles.get(chrom);
    if (!length) return this.genome.fetch(chrom, start, end);
    let [at, bases] = [Math.max(0, start), ""];
    for (const stop = Math.min(end, TURNS * length); at < stop;) {
      const first = at % length;
      const last = Math.min(length, first + stop - at);
      bases += await this.genome.fetch(chrom, first, last);
      at += last - first;
    }
    return bases;
  }

  /** Intervals of contigs, so many turns further on. @param {Interval[]} intervals @param {number} turns */
  turned(intervals, turns) {
    return intervals.map(({ chrom, start, end }) => {
      const distance = turns * this.onContig(chrom);
      return { chrom, start: start + distance, end: end + distance };
    });
  }

  /**
   * Intervals of the second turn; before one at the origin also the last bases of the circle, if asked for.
   *
   * @param {Interval[]} intervals
   * @param {number} reach
   */
  withEnds(intervals, reach) {
    return intervals.map(({ chrom, start, end }) => {
      const length = this.onContig(chrom);
      const last = intervals.find((one) => one.chrom === chrom && one.end === 2 * length);
      const isWider = length && start === length && last;
      return { chrom, start: isWider ? Math.max(last.start - length, length - reach) : start, end };
    });
  }

  /** Candidates, those of circles on every turn. @param {AsyncIterable<Variant>} variants @returns {AsyncGenerator<Variant>} */
  async *allTurns(variants) {
    /** @type {Variant[]} */
    let held = [];
    const turns = (/** @type {Variant[]} */ listed) =>
      [...Array(TURNS).keys()].flatMap((turn) =>
        listed.map((one) => ({ ...one, pos: one.pos + turn * this.onContig(one.chrom) })),
      );
    for await (const one of variants) {
      if (held.length && held[0].chrom !== one.chrom) yield* turns(held.splice(0));
      if (this.circles.has(one.chrom)) held.push(one);
      else yield one;
    }
    yield* turns(held);
  }
}

/**
 * The blocks of `readBlocks`, with those of circles unrolled. With circles, the request has regions.
 *
 * @param {Core} core
 * @param {OpenAlignments[]} sources
 * @param {ReadRequest} request
 * @param {(() => AsyncIterator<Interval>) | null} wanted
 * @param {LeftOut} leftOut
 * @returns {AsyncGenerator<ReadBlock>}
 */
export async function* runBlocks(core, sources, request, wanted, leftOut) {
  const { native, reference } = core;
  if (!reference.circles.size) return yield* readBlocks(native, sources, request, wanted, leftOut);
  for (const chrom of request.contigs) {
    const regions = request.regions?.filter((one) => one.chrom === chrom) ?? [];
    if (reference.circles.has(chrom)) yield* turns(core, sources, request, regions, leftOut);
    else if (regions.length) yield* readBlocks(native, sources, { ...request, regions }, null, leftOut);
  }
}

/**
 * The reads of a circle, unrolled. Those left out count on the second turn alone.
 *
 * @param {Core} core
 * @param {OpenAlignments[]} sources
 * @param {ReadRequest} request
 * @param {Interval[]} places
 * @param {LeftOut} leftOut
 * @returns {AsyncGenerator<ReadBlock>}
 */
async function* turns(core, sources, request, places, leftOut) {
  if (!places.length) return;
  const { native, call } = core;
  const [{ chrom }] = places;
  const circle = native.with((arrays) =>
    call.circle_make(
      core.run,
      core.contigs.indexOf(chrom),
      places.length,
      arrays.pass(Int32Array.from(places, ({ start }) => start)),
      arrays.pass(Int32Array.from(places, ({ end }) => end)),
    ),
  );
  /** @param {number} turn @param {LeftOut} counts @returns {AsyncGenerator<ReadBlock>} */
  async function* read(turn, counts) {
    const found = native.taken(call.circle_places(circle, turn));
    const regions = Array.from({ length: found.length / 2 }, (_, i) => ({
      chrom,
      start: found[2 * i],
      end: found[2 * i + 1],
    }));
    if (regions.length) yield* readBlocks(native, sources, { ...request, regions }, null, counts);
  }
  const block = (/** @type {number} */ pointer) => {
    const made = new ReadBlock(native, pointer, core.contigs);
    if (!made.length) made.release();
    return made.length ? [made] : [];
  };
  for await (const near of read(NEAR_ORIGIN, new LeftOut())) {
    await core.step("circle_take_near_origin", [circle, near.pointer]);
    near.release();
  }
  for (let turn = 0; turn < TURNS; turn++) {
    for await (const own of read(turn, turn === 1 ? leftOut : new LeftOut())) {
      await core.step("circle_turn", [circle, own.pointer, turn]);
      own.release();
      yield* block(call.circle_turned(circle));
    }
  }
  yield* block(call.circle_rest(circle));
  call.circle_free(circle);
}
