// Scores regions as a stream, from a stream of reads and a stream of regions (cpu/calling/region_stream.cpp).
//
// Reads and candidates arrive in coordinate order. No later read starts before the frontier, where the newest read
// starts. A region is scored once the frontier has passed it, and reads are dropped once no region needs them. Memory
// therefore grows with the depth of the data, not with the size of the file. All coordinates are 0-based half-open.

import { gather, lowerBound, offsets } from "../genomics/arrays.js";
import { ReadBlock } from "../genomics/blocks.js";
import { carriedAlleles } from "../genomics/discovery.js";
import { buildHaplotypes } from "../genomics/haplotypes.js";
import { MAX_SHIFT } from "../genomics/regions.js";
import { encode } from "../letters.js";
import { setAside } from "../models/gatk.js";
import { uncertainReads } from "./evidence.js";

/** @typedef {import("../batch.js").Batch} Batch */
/** @typedef {import("../genomics/haplotypes.js").Haplotype} Haplotype */
/** @typedef {import("../genomics/native.js").Native} Native */
/** @typedef {import("../genomics/regions.js").FetchBases} FetchBases */
/** @typedef {import("../genomics/regions.js").Region} Region */
/** @typedef {import("./evidence.js").Evidence} Evidence */
/** @typedef {import("./options.js").CallOptions} CallOptions */
/** @typedef {import("./region_sources.js").RegionSource} RegionSource */
/** @typedef {import("./scoring.js").Preparation} Preparation */
/** @typedef {import("./evidence.js").PreparedRead} PreparedRead */

/** @typedef {{log10: Float64Array, precision: Uint8Array}} Scores */
/** @typedef {(batch: Batch) => Promise<Scores>} Score */

/** The fewest bases of a read after it was cut to a region. GATK drops shorter ones, too. */
const MIN_CUT_LENGTH = 10;

/** A region that is ready to be scored. */
/** @typedef {{region: Region, haplotypes: Haplotype[], letters: Uint8Array[], reads: Uint32Array, slack: number}} Task */
/** @typedef {{tasks: Task[], reads: import("./evidence.js").ScoredReads, edges: Uint32Array, fromEnd: Int32Array, scores: Promise<Scores>, prepared: (read: number) => PreparedRead}} Begun */

/** Scores regions as reads arrive. */
export class EvidenceStream {
  /** @param {Native} native @param {FetchBases} fetch @param {RegionSource} source @param {Preparation} preparation @param {Score} score @param {CallOptions} options */
  constructor(native, fetch, source, preparation, score, options) {
    this.native = native;
    this.fetch = fetch;
    this.source = source;
    this.score = score;
    this.options = options;
    this.preparation = preparation;
    this.counts = { regions: 0, reads: 0, pairs: 0, cappedRegions: 0, cappedReads: 0, highestQuality: -1 };
  }

  /**
   * The scored regions, in order. While some regions are scored, the reads of the next ones are cut.
   *
   * @param {AsyncIterable<ReadBlock>} blocks reads in coordinate order, each block of one contig
   * @returns {AsyncGenerator<Evidence>}
   */
  async *run(blocks) {
    /** @type {Begun | null} */
    let before = null;
    for await (const { held, tasks } of this.#collected(blocks)) {
      const begun = this.#begin(held, tasks);
      if (before) yield* this.#scored(before);
      before = begun;
    }
    if (before) yield* this.#scored(before);
  }

  /** Takes notice of base qualities, until one suffices for candidates. @param {Uint8Array} quals */
  #meetQualities(quals) {
    let highest = this.counts.highestQuality;
    if (highest >= this.options.minBaseQuality) return;
    for (const quality of quals) highest = Math.max(highest, quality);
    this.counts.highestQuality = highest;
  }

  /** Regions that are to be scored in one call, and the reads that are held then. @param {AsyncIterable<ReadBlock>} blocks */
  async *#collected(blocks) {
    let held = ReadBlock.empty();
    /** @type {Region[]} */
    let pending = [];
    for await (const block of blocks) {
      this.#meetQualities(block.quals);
      if (block.chrom !== held.chrom) {
        if (held.chrom) pending.push(...(await this.source.finish(held.chrom)));
        yield* this.#tasks(held, pending);
        pending = [];
        held = ReadBlock.empty(block.chrom);
      }
      held = ReadBlock.concatenate([held, block]);
      const frontier = block.start[block.length - 1];
      pending.push(...(await this.source.advance(block, frontier)));
      const later = pending.findIndex((region) => region.coreEnd > frontier && region.chrom === block.chrom);
      const ready = pending.splice(0, later < 0 ? pending.length : later);
      yield* this.#tasks(held, ready);
      held = forget(held, pending, this.source.openStart, frontier);
    }
    if (held.chrom) pending.push(...(await this.source.finish(held.chrom)));
    pending.push(...(await this.source.finishAll()));
    yield* this.#tasks(held, pending);
  }

  /** @param {ReadBlock} held @param {Region[]} regions @returns {AsyncGenerator<{held: ReadBlock, tasks: Task[]}>} */
  async *#tasks(held, regions) {
    let reach = 0;
    for (let read = 0; read < held.length; read++) reach = Math.max(reach, held.end[read] - held.start[read]);
    /** @type {Task[]} */
    let tasks = [];
    let cells = 0;
    for (const region of regions) {
      const task = await this.#task(held, region, reach);
      tasks.push(task);
      const letters = task.letters.reduce((sum, own) => sum + own.length, 0);
      cells += task.reads.length * (region.end - region.start) * letters;
      if (cells > this.options.maxCells) {
        yield { held, tasks };
        [tasks, cells] = [[], 0];
      }
    }
    if (tasks.length) yield { held, tasks };
  }

  /** @param {ReadBlock} held @param {Region} region @param {number} reach @returns {Promise<Task>} */
  async #task(held, region, reach) {
    const reads = this.#select(held, region, reach);
    const reference = await this.fetch(region.chrom, region.haplotypeStart, region.haplotypeEnd);
    const haplotypes = buildHaplotypes(region, reference, this.options.maxHaplotypes, (part) =>
      carriedAlleles(this.native, held.take(reads), part, reference),
    );
    const letters = haplotypes.map((haplotype) => encode(haplotype.sequence));
    const slack = Math.max(0, reference.length - Math.min(...letters.map((own) => own.length)));
    return { region, haplotypes, letters, reads, slack };
  }

  /** The reads that overlap a region's core, at most `maxDepth` of each sample. @param {ReadBlock} held @param {Region} region @param {number} reach */
  #select(held, region, reach) {
    if (held.chrom !== region.chrom) return new Uint32Array(0);
    const first = lowerBound(held.start, region.coreStart - reach);
    const last = lowerBound(held.start, region.coreEnd);
    const all = Uint32Array.from({ length: last - first }, (_, index) => first + index);
    const reads = all.filter((read) => held.end[read] > region.coreStart);
    if (reads.length <= this.options.maxDepth) return reads;
    // Mates share a name, so they are kept or dropped together. The order of the hashes is independent of alleles.
    const ticket = new Map(Array.from(reads, (read) => [read, held.names.checksum(read)]));
    /** @param {number} read */
    const of = (read) => /** @type {number} */ (ticket.get(read));
    const order = reads.slice().sort((a, b) => held.sample[a] - held.sample[b] || of(a) - of(b) || a - b);
    /** @type {Map<number, number>} */
    const taken = new Map();
    const kept = order.filter((read) => {
      const rank = taken.get(held.sample[read]) ?? 0;
      taken.set(held.sample[read], rank + 1);
      return rank < this.options.maxDepth;
    });
    if (kept.length < reads.length) {
      this.counts.cappedRegions++;
      this.counts.cappedReads += reads.length - kept.length;
    }
    return kept.sort();
  }

  /** @param {ReadBlock} held @param {Task[]} tasks @returns {Begun} */
  #begin(held, tasks) {
    const { read, first, last, counts } = this.#cut(held, tasks);
    const offset = offsets(last.map((end, index) => end - first[index]));
    const starts = read.map((one, index) => held.baseOffset[one] + first[index]);
    const reads = {
      names: held.names.take(read),
      sample: Int32Array.from(read, (one) => held.sample[one]),
      flag: Uint16Array.from(read, (one) => held.flag[one]),
      mapq: Uint8Array.from(read, (one) => held.mapq[one]),
      start: Int32Array.from(read, (one) => held.start[one]),
      end: Int32Array.from(read, (one) => held.end[one]),
      length: read.map((one) => held.baseOffset[one + 1] - held.baseOffset[one]),
    };
    const cut = {
      offset,
      bases: gather(held.bases, starts, offset),
      quals: gather(held.quals, starts, offset),
      ...held.indelSlices(starts, offset),
      mapq: reads.mapq,
    };
    const batch = this.preparation.batch(
      cut,
      counts,
      tasks.map((task) => task.letters),
    );
    const scores = this.score(batch);
    // The error is thrown where the scores are awaited.
    scores.catch(() => {});
    const prepared = this.preparation.reader(cut, batch);
    const edges = offsets(counts);
    return { tasks, reads, edges, fromEnd: this.#fromEnd(held, tasks, read, edges), scores, prepared };
  }

  /** `Evidence.fromEnd` of some regions, one after the other. @param {ReadBlock} held @param {Task[]} tasks @param {Uint32Array} reads @param {Uint32Array} edges */
  #fromEnd(held, tasks, reads, edges) {
    const candidates = offsets(tasks.map((task) => task.region.variants.length));
    const positions = Int32Array.from(tasks.flatMap((task) => task.region.variants.map((variant) => variant.pos)));
    const places = tasks.reduce(
      (sum, task, index) => sum + (edges[index + 1] - edges[index]) * task.region.variants.length,
      0,
    );
    return this.native.with((arrays) => {
      const fromEnd = arrays.room(4 * places);
      this.native.call.bases_from_end(
        held.passed(arrays),
        tasks.length,
        arrays.pass(reads),
        arrays.pass(edges),
        arrays.pass(positions),
        arrays.pass(candidates),
        fromEnd,
      );
      return arrays.read(Int32Array, fromEnd, places);
    });
  }

  /** Cuts the reads of some regions, and drops reads that become too short. @param {ReadBlock} held @param {Task[]} tasks */
  #cut(held, tasks) {
    const all = Uint32Array.from(tasks.flatMap((task) => [...task.reads]));
    /** @param {(task: Task) => number} of */
    const ofEach = (of) => Int32Array.from(tasks.flatMap((task) => new Array(task.reads.length).fill(of(task))));
    const { firsts, lasts } = this.native.with((arrays) => {
      const [from, to] = [arrays.room(4 * all.length), arrays.room(4 * all.length)];
      this.native.call.cut_reads(
        held.passed(arrays),
        all.length,
        arrays.pass(all),
        arrays.pass(ofEach((task) => task.region.start)),
        arrays.pass(ofEach((task) => task.region.end)),
        arrays.pass(ofEach((task) => task.slack)),
        from,
        to,
      );
      return { firsts: arrays.read(Uint32Array, from, all.length), lasts: arrays.read(Uint32Array, to, all.length) };
    });
    /** @param {number} index */
    const isLong = (index) => lasts[index] - firsts[index] >= MIN_CUT_LENGTH;
    const edges = offsets(tasks.map((task) => task.reads.length));
    const counts = tasks.map((task, number) => {
      let count = 0;
      for (let index = edges[number]; index < edges[number + 1]; index++) count += Number(isLong(index));
      return count;
    });
    return {
      read: all.filter((_, index) => isLong(index)),
      first: firsts.filter((_, index) => isLong(index)),
      last: lasts.filter((_, index) => isLong(index)),
      counts,
    };
  }

  /** @param {Begun} begun @returns {AsyncGenerator<Evidence>} */
  async *#scored({ tasks, reads, edges, fromEnd, scores, prepared }) {
    const { log10, precision } = await scores;
    let [done, placed] = [0, 0];
    for (const [index, task] of tasks.entries()) {
      const [first, last] = [edges[index], edges[index + 1]];
      const width = task.letters.length;
      const pairs = (last - first) * width;
      const places = (last - first) * task.region.variants.length;
      const own = log10.subarray(done, done + pairs);
      const length = reads.length.subarray(first, last);
      const sample = reads.sample.subarray(first, last);
      yield {
        region: task.region,
        haplotypes: task.haplotypes,
        reads: {
          names: reads.names.take(Uint32Array.from({ length: last - first }, (_, i) => first + i)),
          sample,
          flag: reads.flag.subarray(first, last),
          mapq: reads.mapq.subarray(first, last),
          start: reads.start.subarray(first, last),
          end: reads.end.subarray(first, last),
          length,
        },
        fromEnd: fromEnd.subarray(placed, placed + places),
        log10: own,
        precision: precision.subarray(done, done + pairs),
        uncertain: uncertainReads(own, width, sample, (read) => prepared(first + read)),
        setAside: setAside(bestOfEach(own, width), length, this.options),
      };
      done += pairs;
      placed += places;
    }
    this.counts.regions += tasks.length;
    this.counts.reads += edges[edges.length - 1];
    this.counts.pairs += done;
  }
}

/** The best score of each read. @param {Float64Array} scores [reads][haplotypes] @param {number} width */
function bestOfEach(scores, width) {
  return Float64Array.from({ length: scores.length / width }, (_, read) =>
    scores.subarray(read * width, (read + 1) * width).reduce((best, score) => Math.max(best, score), -Infinity),
  );
}

/** Drops the reads that overlap no pending region, no open region and no later one. @param {ReadBlock} held @param {Region[]} pending @param {number | null} openStart @param {number} frontier */
function forget(held, pending, openStart, frontier) {
  const starts = pending.map((region) => region.coreStart);
  const needed = Math.min(...starts, frontier - 2 * MAX_SHIFT, openStart ?? Infinity);
  const keep = Uint32Array.from({ length: held.length }, (_, read) => read).filter((read) => held.end[read] > needed);
  return keep.length === held.length ? held : held.take(keep);
}

/**
 * @template Item
 * @param {AsyncGenerator<Item>} items
 * @param {number} count
 * @returns {AsyncGenerator<Item>[]}
 */
export function tee(items, count) {
  const queues = Array.from({ length: count }, () => /** @type {Item[]} */ ([]));
  /** @type {Promise<boolean> | null} whether there was one more */
  let reading = null;
  const more = () => {
    reading ??= items.next().then(({ value, done }) => {
      reading = null;
      if (!done) for (const queue of queues) queue.push(value);
      return !done;
    });
    return reading;
  };
  /** @param {Item[]} queue */
  async function* copy(queue) {
    while (queue.length || (await more())) {
      if (queue.length) yield /** @type {Item} */ (queue.shift());
    }
  }
  return queues.map(copy);
}
