// A run: files to regions to genotypes, as a stream of events (pairhmm/evidence/opening.py, run.py, region_choice.py).

import { AlignmentReader } from "../files/alignments.js";
import { CandidateReader } from "../files/candidates.js";
import { Reference } from "../files/fasta.js";
import { InputProblem } from "../files/problem.js";
import { readBlocks } from "../files/read_blocks.js";
import { LeftOut } from "../files/selection.js";
import { CandidateFinder } from "../genomics/discovery.js";
import { Native } from "../genomics/native.js";
import { Nuisances } from "../genomics/nuisances.js";
import { RegionBuilder } from "../genomics/regions.js";
import { Announcements } from "./announcements.js";
import { calledSite, regionEvent } from "./events.js";
import { runExtent } from "./extent.js";
import { onListedAlleles, RegionGenotyper } from "./genotyping.js";
import { CALL_OPTIONS } from "./options.js";
import { contigOrder, findPlaces, inside, withContext } from "./places.js";
import { ReferenceCheck } from "./reference_check.js";
import { DiscoveredRegions, ListedRegions } from "./region_sources.js";
import { EvidenceStream } from "./stream.js";
import { tee } from "./tee.js";
import { wantedIntervals } from "./wanted.js";

export { InputProblem };

/** @typedef {import("../files/alignments.js").AlignmentFile} AlignmentFile */
/** @typedef {import("../files/fasta.js").ReferenceFiles} ReferenceFiles */
/** @typedef {import("../files/intervals.js").Interval} Interval */
/** @typedef {import("../files/sources.js").Source} Source */
/** @typedef {import("../genomics/variants.js").Variant} Variant */
/** @typedef {import("./events.js").RunEvent} RunEvent */
/** @typedef {import("./events.js").TextEvent} TextEvent */
/** @typedef {import("./options.js").CallOptions} CallOptions */
/** @typedef {import("./region_sources.js").RegionSource} RegionSource */

/**
 * @typedef {object} Inputs
 * @property {AlignmentFile[]} alignments
 * @property {ReferenceFiles} reference
 * @property {{name: string, data: Source, index?: Source}} [variants] candidates, as -v
 * @property {{name: string, data: Source}} [intervals] BED, as -R
 * @property {string} [region] as -r
 */

/**
 * @typedef {object} Engine
 * @property {(batch: import("../batch.js").Batch, options?: {signal?: AbortSignal}) => Promise<{log10: Float64Array, precision: Uint8Array}>} forward
 * @property {WebAssembly.Module | BufferSource} module the file pairhmm.wasm
 */

/**
 * Scores and genotypes what is asked for.
 *
 * @param {Inputs} inputs
 * @param {Partial<CallOptions>} options
 * @param {Engine} engine
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<RunEvent>}
 * @throws {InputProblem} for files that can't be used; the message names file, record and cure
 * @throws {unknown} the signal's reason, where it aborts
 */
export async function* run(inputs, options, engine, signal) {
  const chosen = { ...CALL_OPTIONS, ...options };
  /** @type {TextEvent[]} */
  const told = [];
  const opened = await open(inputs, chosen, engine, told);
  try {
    yield { kind: "begin", ...opened.begin };
    yield* scored(opened, engine, chosen, told, signal);
  } finally {
    opened.source.release();
    opened.genotyper.release();
  }
}

/**
 * @param {Awaited<ReturnType<typeof open>>} opened
 * @param {Engine} engine
 * @param {CallOptions} options
 * @param {TextEvent[]} told
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<RunEvent>}
 */
async function* scored(opened, engine, options, told, signal) {
  const { native, reference, source, blocks, genotyper, isListed, extent, begin, conclude } = opened;
  /** @param {import("../batch.js").Batch} batch */
  const score = (batch) => engine.forward(batch, { signal });
  const fetch = reference.fetch.bind(reference);
  const stream = new EvidenceStream(native, fetch, source, score, options);
  const counts = new Announcements(begin.samples);
  for await (const evidence of stream.run(untilAborted(blocks, signal))) {
    signal?.throwIfAborted();
    const refined = isListed ? onListedAlleles(evidence) : evidence;
    const sites = genotyper.sites(refined);
    counts.add(refined, sites);
    yield* told.splice(0);
    const { chrom, end, haplotypeStart, haplotypeEnd } = evidence.region;
    const span = await fetch(chrom, haplotypeStart, haplotypeEnd);
    yield regionEvent(
      evidence,
      span,
      refined.setAside,
      sites.map((site) => calledSite(site, options.minQual)),
    );
    yield { kind: "progress", done: extent.done(chrom, end), of: extent.total };
  }
  conclude();
  for (const text of counts.warnings(stream.counts, stream.preparation, options)) told.push({ kind: "warning", text });
  yield* told.splice(0);
  const { regions, reads, pairs } = stream.counts;
  yield { kind: "end", counts: { regions, reads, setAside: counts.setAside, pairs } };
}

/** @template Item @param {AsyncIterable<Item>} items @param {AbortSignal} [signal] */
async function* untilAborted(items, signal) {
  for await (const item of items) {
    signal?.throwIfAborted();
    yield item;
  }
}

/**
 * Opens and checks everything that a run needs.
 *
 * @param {Inputs} inputs
 * @param {CallOptions} options
 * @param {Engine} engine
 * @param {TextEvent[]} told
 */
async function open(inputs, options, engine, told) {
  /** @param {string} text */
  const warn = (text) => void told.push({ kind: "warning", text });
  /** @param {string} text */
  const tell = (text) => void told.push({ kind: "note", text });
  const native = await Native.start(engine.module);
  const reference = await Reference.open(inputs.reference, warn);
  const asked = await findPlaces(inputs, reference);
  const reader = await AlignmentReader.open(inputs.alignments, reference, native, asked !== null, tell);
  const contigs = contigOrder(reader, reference);
  const known = withContext(asked, reference);
  const { source, wanted } = chooseRegions(
    inputs,
    options,
    native,
    reference,
    contigs,
    reader.samples.length,
    asked,
    known,
    warn,
  );
  const isListed = wanted !== null;
  const leftOut = new LeftOut();
  const check = new ReferenceCheck(reference, reader.checksums, warn);
  const request = { contigs: [...contigs.keys()], selection: options, chunkSize: options.chunkSize, regions: known };
  return {
    native,
    reference,
    source,
    blocks: check.watch(readBlocks(native, reader.sources, request, wanted, leftOut)),
    extent: await runExtent(reader, contigs, known),
    genotyper: new RegionGenotyper(native, reader.samples.length, options, !isListed),
    isListed,
    begin: {
      samples: reader.samples,
      contigs: [...contigs],
      reference: reference.path,
      model: options.model === "profile" ? `profile (${options.parameters})` : "gatk",
      pieces: asked?.length ?? 0,
    },
    conclude: () => {
      const paths = inputs.alignments.map((one) => one.name).join(", ");
      leftOut.conclude(paths, known === null && wanted === null, tell, warn);
    },
  };
}

/**
 * The regions of a run, and the intervals in which reads are needed; null for everywhere.
 *
 * @param {Inputs} inputs
 * @param {CallOptions} options
 * @param {Native} native
 * @param {Reference} reference
 * @param {Map<string, number>} contigs
 * @param {number} samples
 * @param {Interval[] | null} asked
 * @param {Interval[] | null} known
 * @param {(text: string) => void} warn
 * @returns {{source: RegionSource, wanted: (() => AsyncIterator<Interval>) | null}}
 */
function chooseRegions(inputs, options, native, reference, contigs, samples, asked, known, warn) {
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
  const source = new ListedRegions(copies[0], builder, [...contigs.keys()], new Nuisances(finder, fetch), isAsked);
  let next = 1;
  return { source, wanted: () => wantedIntervals(copies[next++], fetch) };
}

/** @param {AsyncIterable<Variant>} variants @param {import("./places.js").RegionTest} isAround */
async function* around(variants, isAround) {
  for await (const one of variants) if (isAround(one.chrom, one.pos)) yield one;
}
