// The places of a run: its contigs in order, the intervals that were asked for, and the bases around these
// (pairhmm/calling/targets.py). All coordinates are 0-based half-open.

import { lowerBound } from "../genomics/arrays.js";
import { merge, parseRegion, readBed } from "../files/intervals.js";

/** @typedef {import("../files/alignments.js").AlignmentReader} AlignmentReader */
/** @typedef {import("../files/fasta.js").Reference} Reference */
/** @typedef {import("../files/intervals.js").Interval} Interval */
/** @typedef {(chrom: string, position: number) => boolean} RegionTest whether a position is inside some intervals */

/** Bases on either side of an interval that was asked for in which candidates are sought, too. */
const CONTEXT = 1000;

/** Contigs and their lengths in the order of the run. @param {AlignmentReader} reader @param {Reference} reference */
export function contigOrder(reader, reference) {
  const contigs = new Map(reader.contigs);
  for (const [name, length] of reference.contigs) if (!contigs.has(name)) contigs.set(name, length);
  return contigs;
}

/**
 * The intervals that were asked for, merged and in the reference's order; null for everywhere.
 *
 * @param {{region?: string, intervals?: {name: string, data: import("../files/sources.js").Source}}} inputs
 * @param {Reference} reference
 * @param {(text: string) => void} warn
 */
export async function findPlaces(inputs, reference, warn) {
  if (!inputs.region && !inputs.intervals) return null;
  const places = inputs.region ? [parseRegion(inputs.region, reference.contigs)] : [];
  if (inputs.intervals) places.push(...(await readBed(inputs.intervals, reference.contigs, warn)));
  return merge(places, reference.contigs);
}

/** Places with some bases around them. Candidates there decide how those inside are joined. @param {Interval[] | null} places @param {Reference} reference */
export function withContext(places, reference) {
  if (!places) return null;
  const widened = places.map(({ chrom, start, end }) => ({
    chrom,
    start: Math.max(0, start - CONTEXT),
    end: Math.min(reference.length(chrom), end + CONTEXT),
  }));
  return merge(widened, reference.contigs);
}

/** Tests whether a position lies in one of some disjoint intervals; with null, every position does. @param {Interval[] | null} places @returns {RegionTest} */
export function inside(places) {
  if (!places) return () => true;
  /** @type {Map<string, {starts: number[], ends: number[]}>} */
  const onContig = new Map();
  for (const { chrom, start, end } of places) {
    const known = onContig.get(chrom) ?? { starts: [], ends: [] };
    known.starts.push(start);
    known.ends.push(end);
    onContig.set(chrom, known);
  }
  return (chrom, position) => {
    const known = onContig.get(chrom);
    if (!known) return false;
    const index = lowerBound(known.starts, position + 1) - 1;
    return index >= 0 && position < known.ends[index];
  };
}
