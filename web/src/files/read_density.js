// Estimates where the reads of an alignment file lie from its index alone (pairhmm/alignments/read_density.py). All
// coordinates are 0-based half-open.

import { lowerBound } from "../arrays.js";
import { Bam } from "./bam.js";

/** @import { OpenAlignments } from "./alignments.js" */
/** @import { BamIndex, Place } from "./bam_index.js" */
/** @import { CramIndex, Slice } from "./cram_index.js" */

/** How many reads a contig has before each position of some. @typedef {{edges: number[], before: number[]}} ReadDensity */

// The most bytes that a block of a BAM file holds, unpacked; and those of a read in CRAM, whose index counts bytes.
const [BLOCK_SIZE, CRAM_BYTES] = [1 << 16, 40];

/** The density of each contig that has reads, of a file with an index. @param {OpenAlignments} source @returns {Map<string, ReadDensity>} */
export function readDensities({ file }) {
  const { names, lengths } = file.header;
  const found =
    file instanceof Bam
      ? ofBam(/** @type {BamIndex} */ (file.index), lengths)
      : ofCram(/** @type {CramIndex} */ (file.index), lengths);
  return new Map(found.map(([tid, density]) => [names[tid], density]));
}

/** The value at a position, of values between which it is even (as `numpy.interp`). @param {number} at @param {number[]} positions @param {number[]} values */
export function between(at, positions, values) {
  const last = positions.length - 1;
  if (at >= positions[last]) return values[last];
  let behind = lowerBound(positions, at);
  while (positions[behind] === at) behind++;
  if (!behind) return values[0];
  const below = behind - 1;
  const slope = (values[behind] - values[below]) / (positions[behind] - positions[below]);
  return slope * (at - positions[below]) + values[below];
}

/** @param {number[]} values */
export function distinct(values) {
  return [...new Set(values)].sort((one, other) => one - other);
}

/** @param {BamIndex} index @param {number[]} lengths @returns {[number, ReadDensity][]} */
function ofBam({ reads, starts, shift }, lengths) {
  const known = [...reads].filter(([tid, { mapped }]) => mapped && starts[tid]?.length).sort(([a], [b]) => a - b);
  const places = (/** @type {number} */ tid, /** @type {Place} */ end) => [
    ...starts[tid].map((one) => one.offset),
    end,
  ];
  const blocks = distinct(known.flatMap(([tid, { end }]) => places(tid, end).map(({ block }) => block)));
  // Approximate size of a packed block. If the whole file is one block, only offsets within the block count.
  const sizes = blocks.slice(1).map((block, i) => block - blocks[i]);
  const size = sizes.reduce((least, one) => Math.min(least, one), sizes[0] ?? 1);
  return known.map(([tid, { mapped, end }]) => {
    let most = 0;
    const offsets = places(tid, end).map(({ block, within }) => {
      return (most = Math.max(most, block + within * (size / BLOCK_SIZE)));
    });
    const positions = starts[tid].map(({ window }) => Math.min(window * 2 ** shift, lengths[tid]));
    const all = Math.max(most - offsets[0], 1e-9);
    return [
      tid,
      { edges: [...positions, lengths[tid]], before: offsets.map((at) => (mapped * (at - offsets[0])) / all) },
    ];
  });
}

/** @param {CramIndex} index @param {number[]} lengths @returns {[number, ReadDensity][]} */
function ofCram({ lines }, lengths) {
  // Slices of several contigs have a line of each: they are even.
  const aligned = lines.filter(({ tid }) => tid >= 0);
  /** @type {Map<string, number>} */
  const bases = new Map();
  const keyOf = (/** @type {Slice} */ { containerStart, sliceStart }) => `${containerStart} ${sliceStart}`;
  for (const one of aligned) bases.set(keyOf(one), (bases.get(keyOf(one)) ?? 0) + Math.max(1, one.span));
  const bytesOf = (/** @type {Slice} */ one) =>
    (Math.max(1, one.span) / /** @type {number} */ (bases.get(keyOf(one)))) * one.sliceBytes;
  const tids = [...new Set(aligned.map(({ tid }) => tid))];
  return tids.map((tid) => {
    const clip = (/** @type {number} */ at) => Math.min(Math.max(at, 0), lengths[tid]);
    const slices = aligned
      .filter((one) => one.tid === tid)
      .map((one) => ({ first: clip(one.start - 1), last: clip(one.start - 1 + one.span), bytes: bytesOf(one) }));
    const edges = distinct([0, lengths[tid], ...slices.flatMap(({ first, last }) => [first, last])]);
    const steps = edges.map(() => 0);
    const rates = slices.map((one) => ({ ...one, rate: one.bytes / Math.max(one.last - one.first, 1) }));
    for (const { first, rate } of rates) steps[lowerBound(edges, first)] += rate;
    for (const { last, rate } of rates) steps[lowerBound(edges, last)] -= rate;
    let [rate, bytes] = [0, 0];
    const before = edges.map((edge, i) => {
      if (i) bytes += (rate += steps[i - 1]) * (edge - edges[i - 1]);
      return bytes / CRAM_BYTES;
    });
    return [tid, { edges, before }];
  });
}
