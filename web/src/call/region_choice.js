// Chooses the regions that a run scores, and where it reads alignments for them (pairhmm/calling/region_choice.py).

import { CandidateReader } from "../files/candidates.js";
import { CandidateFinder } from "../genomics/discovery.js";
import { Nuisances } from "../genomics/nuisances.js";
import { RegionBuilder } from "../genomics/regions.js";
import { inside, wantedIntervals } from "./places.js";
import { DiscoveredRegions, ListedRegions } from "./region_sources.js";
import { tee } from "./stream.js";

/** @typedef {import("../files/intervals.js").Interval} Interval */
/** @typedef {import("../genomics/native.js").Native} Native */
/** @typedef {import("../genomics/variants.js").Variant} Variant */
/** @typedef {import("./options.js").CallOptions} CallOptions */
/** @typedef {import("./region_sources.js").RegionSource} RegionSource */

/**
 * @typedef {object} Files
 * @property {import("./run.js").Inputs} inputs
 * @property {Native} native
 * @property {import("../files/fasta.js").Reference} reference
 * @property {Map<string, number>} contigs in the order of the run
 * @property {number} samples
 */

/**
 * The regions of a run, and the intervals in which reads are needed: one iterator an input, or null for everywhere.
 *
 * @param {Files} files
 * @param {{asked: Interval[] | null, known: Interval[] | null}} places where genotypes are asked for, and the larger area
 *   where candidates are sought; null for everywhere
 * @param {CallOptions} options
 * @param {(text: string) => void} warn
 * @returns {{source: RegionSource, wanted: (() => AsyncIterator<Interval>) | null}}
 */
export function chooseRegions({ inputs, native, reference, contigs, samples }, { asked, known }, options, warn) {
  const fetch = reference.fetch.bind(reference);
  const maxAlleles = Math.max(1, Math.min(options.maxAlleles, options.maxHaplotypes - 1));
  const builder = new RegionBuilder(fetch, contigs, { ...options, maxAlleles });
  const finder = new CandidateFinder(native, fetch, samples, options);
  const [isAsked, isAround] = [inside(asked), inside(known)];
  if (!inputs.variants || !options.listedOnly) {
    return { source: new DiscoveredRegions(finder, builder, isAsked, isAround), wanted: null };
  }
  const reader = new CandidateReader(inputs.variants, contigs, reference, known !== null, warn);
  const copies = tee(around(reader.variants(), isAround), 1 + inputs.alignments.length);
  const listed = /** @type {AsyncGenerator<Variant>} */ (copies.pop());
  const source = new ListedRegions(listed, builder, [...contigs.keys()], new Nuisances(finder, fetch), isAsked);
  const variants = () => /** @type {AsyncGenerator<Variant>} */ (copies.pop());
  return { source, wanted: () => wantedIntervals(variants(), fetch, finder.reach) };
}

/** @param {AsyncIterable<Variant>} variants @param {import("./places.js").RegionTest} isAround */
async function* around(variants, isAround) {
  for await (const one of variants) if (isAround(one.chrom, one.pos)) yield one;
}
