// The places of a run: its contigs, the intervals that were asked for, and how much of them is done
// (pairhmm/calling/targets.py). All coordinates are 0-based half-open.

import { merge, parseRegion, readBed } from "../files/intervals.js";
import { lowerBound } from "../arrays.js";

/** @import { AlignmentReader } from "../files/alignments.js" */
/** @import { UnrolledReference } from "./circles.js" */
/** @import { Reference } from "../files/fasta.js" */
/** @import { Interval } from "../files/intervals.js" */

/** Bases on either side of an interval that was asked for in which candidates are sought, too. */
export const CONTEXT = 1000;

/** Contigs and their lengths in the order of the run. @param {AlignmentReader} reader @param {Reference} reference */
export function contigOrder(reader, reference) {
  const contigs = new Map(reader.contigs);
  for (const [name, length] of reference.contigs) if (!contigs.has(name)) contigs.set(name, length);
  return contigs;
}

/**
 * The intervals that were asked for, merged and in the reference's order; null for everywhere. Those over the origin of
 * a circle become two.
 *
 * @param {{region?: string, intervals?: {name: string, data: import("../files/sources.js").Source}}} inputs
 * @param {UnrolledReference} reference
 * @param {(text: string) => void} warn
 */
export async function findPlaces(inputs, { genome: { contigs }, circles }, warn) {
  if (!inputs.region && !inputs.intervals) return null;
  const places = inputs.region ? [parseRegion(inputs.region, contigs, "-r", circles)] : [];
  if (inputs.intervals) places.push(...(await readBed(inputs.intervals, contigs, warn, circles)));
  return merge(
    places.flatMap(({ chrom, start, end }) => {
      const length = /** @type {number} */ (contigs.get(chrom));
      if (end <= length) return [{ chrom, start, end }];
      return [
        { chrom, start, end: length },
        { chrom, start: 0, end: end - length },
      ];
    }),
    contigs,
  );
}

/** Places with some bases around them. Candidates there decide how those inside are joined. @param {Interval[] | null} places @param {UnrolledReference} reference */
export function withContext(places, reference) {
  if (!places) return null;
  const widened = places.map(({ chrom, start, end }) => ({
    chrom,
    start: Math.max(0, start - CONTEXT),
    end: Math.min(/** @type {number} */ (reference.contigs.get(chrom)), end + CONTEXT),
  }));
  return merge(widened, reference.contigs);
}

/** Disjoint intervals, in the order of the run. */
export class Extent {
  /** @param {Interval[]} intervals */
  constructor(intervals) {
    /** @type {Map<string, {starts: number[], ends: number[], before: number[]}>} */
    this.onContig = new Map();
    /** Bases of all intervals. */
    this.total = 0;
    for (const { chrom, start, end } of intervals) {
      const known = this.onContig.get(chrom) ?? { starts: [], ends: [], before: [] };
      known.starts.push(start);
      known.ends.push(end);
      known.before.push(this.total);
      this.onContig.set(chrom, known);
      this.total += end - start;
    }
  }

  /** Whether a position lies in one of them. @param {string} chrom @param {number} position */
  has(chrom, position) {
    const { starts, ends } = this.onContig.get(chrom) ?? { starts: [], ends: [] };
    return position < ends[lowerBound(starts, position + 1) - 1];
  }

  /** Their bases before a position. @param {string} chrom @param {number} position */
  done(chrom, position) {
    const known = this.onContig.get(chrom);
    if (!known) return 0;
    const index = Math.max(0, lowerBound(known.starts, position + 1) - 1);
    const start = known.starts[index];
    return known.before[index] + Math.max(0, Math.min(position, known.ends[index]) - start);
  }
}

/**
 * The intervals that were asked for, or whole contigs. A contig counts unless an index says that it is empty.
 *
 * @param {AlignmentReader} reader
 * @param {Map<string, number>} contigs in the order of the run
 * @param {Interval[] | null} places
 */
export function runExtent(reader, contigs, places) {
  if (places) return new Extent(places);
  const withReads = new Set();
  for (const { file } of reader.sources) {
    for (const [tid, name] of file.header.names.entries()) {
      if (contigs.has(name) && (file.mappedReads(tid) ?? 1) > 0) withReads.add(name);
    }
  }
  return new Extent(wholeContigs([...contigs].filter(([name]) => withReads.has(name))));
}

/** @param {Iterable<[string, number]>} contigs @returns {Interval[]} */
export function wholeContigs(contigs) {
  return Array.from(contigs, ([chrom, end]) => ({ chrom, start: 0, end }));
}
