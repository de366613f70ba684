// The extent of a run, which shows how much of it is done (pairhmm/calling/extent.py).

import { lowerBound } from "../genomics/arrays.js";

/** @typedef {import("../files/alignments.js").AlignmentReader} AlignmentReader */
/** @typedef {import("../files/intervals.js").Interval} Interval */

/** The intervals that a run goes over, in the order of the run. */
export class Extent {
  /** @param {Interval[]} intervals no two overlap */
  constructor(intervals) {
    /** @type {Map<string, {starts: number[], sizes: number[], before: number[]}>} */
    this.onContig = new Map();
    /** Bases of all intervals. */
    this.total = 0;
    for (const { chrom, start, end } of intervals) {
      const known = this.onContig.get(chrom) ?? { starts: [], sizes: [], before: [] };
      known.starts.push(start);
      known.sizes.push(end - start);
      known.before.push(this.total);
      this.onContig.set(chrom, known);
      this.total += end - start;
    }
  }

  /** The bases of the extent that lie before a position. @param {string} chrom @param {number} position */
  done(chrom, position) {
    const known = this.onContig.get(chrom);
    if (!known) return 0;
    const index = Math.max(0, lowerBound(known.starts, position + 1) - 1);
    return known.before[index] + Math.min(Math.max(0, position - known.starts[index]), known.sizes[index]);
  }
}

/**
 * The intervals that were asked for, or whole contigs. A contig counts unless an index says that it is empty.
 *
 * @param {AlignmentReader} reader
 * @param {Map<string, number>} contigs in the order of the run
 * @param {Interval[] | null} places
 */
export async function runExtent(reader, contigs, places) {
  if (places) return new Extent(places);
  const withReads = new Set();
  for (const { file } of reader.sources) {
    for (const [tid, name] of file.header.names.entries()) {
      if (!contigs.has(name)) continue;
      if (!file.countsReads || (await file.mappedReads(tid)) > 0) withReads.add(name);
    }
  }
  const whole = [...contigs].filter(([name]) => withReads.has(name));
  return new Extent(whole.map(([chrom, end]) => ({ chrom, start: 0, end })));
}
