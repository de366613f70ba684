// A run: files to regions to genotypes, as a stream of events (pairhmm/calling/opening.py, run.py, region_choice.py).

import { AlignmentReader } from "../files/alignments.js";
import { checkContigs } from "../files/names.js";
import { Reference } from "../files/fasta.js";
import { InputProblem } from "../files/problem.js";
import { readBlocks } from "../files/read_blocks.js";
import { LeftOut } from "../files/selection.js";
import { siteAnnotations } from "../genomics/genotypes.js";
import { Native } from "../genomics/native.js";
import { Announcements } from "./announcements.js";
import { calledSite, regionEvent } from "./events.js";
import { contigOrder, findPlaces, runExtent, withContext } from "./places.js";
import { RegionGenotyper } from "./genotyping.js";
import { onListedAlleles } from "./evidence.js";
import { checkRecords, familiesIn, modelText, strModelOf } from "./option_files.js";
import { chosenOptions } from "./options.js";
import { walkOf } from "./reference_blocks.js";
import { ReferenceCheck } from "./reference_check.js";
import { chooseRegions } from "./region_choice.js";
import { Preparation } from "./scoring.js";
import { EvidenceStream } from "./stream.js";

export { InputProblem };

/** @typedef {import("../files/alignments.js").AlignmentFile} AlignmentFile */
/** @typedef {import("../files/fasta.js").ReferenceFiles} ReferenceFiles */
/** @typedef {import("../files/sources.js").Source} Source */
/** @typedef {import("./events.js").RunEvent} RunEvent */
/** @typedef {import("./events.js").TextEvent} TextEvent */
/** @typedef {import("./options.js").CallOptions} CallOptions */

/**
 * @typedef {object} Inputs
 * @property {AlignmentFile[]} alignments
 * @property {ReferenceFiles} reference
 * @property {{name: string, data: Source, index?: Source}} [variants] candidates, as -v
 * @property {{name: string, data: Source}} [intervals] BED, as -R
 * @property {string} [region] as -r
 * @property {{name: string, data: Source}} [strModel] as --str-model, a file
 * @property {{name: string, data: Source}} [pedigree] as --ped
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
  const chosen = chosenOptions(options);
  /** @type {TextEvent[]} */
  const told = [];
  try {
    const opened = await open(inputs, chosen, engine, told);
    yield { kind: "begin", ...opened.begin };
    yield* scored(opened, engine, chosen, told, signal);
  } catch (error) {
    yield* told.splice(0);
    throw error;
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
  const { native, reference, source, blocks, walk, preparation, genotyper, isListed, extent, begin, conclude } = opened;
  /** @param {import("../batch.js").Batch} batch */
  const score = (batch) => engine.forward(batch, { signal });
  const fetch = reference.fetch.bind(reference);
  const stream = new EvidenceStream(native, fetch, source, preparation, score, options);
  const counts = new Announcements(begin.samples);
  const passed = untilAborted(blocks, signal);
  for await (const evidence of stream.run(walk?.counted(passed) ?? passed)) {
    signal?.throwIfAborted();
    const refined = isListed ? onListedAlleles(evidence) : evidence;
    const sites = genotyper.sites(refined);
    counts.add(refined, sites);
    yield* told.splice(0);
    const { chrom, end, haplotypeStart, haplotypeEnd } = evidence.region;
    const span = await fetch(chrom, haplotypeStart, haplotypeEnd);
    const records = sites.map((site) => calledSite(site, options.minQual));
    if (walk) await addBlocks(walk, records);
    yield regionEvent(
      evidence,
      span,
      refined.setAside,
      records,
      options.model === "profile" ? options.parameters : null,
    );
    yield { kind: "progress", done: extent.done(chrom, end), of: extent.total };
  }
  if (walk) yield { kind: "blocks", blocks: await walk.rest() };
  conclude();
  for (const text of counts.warnings(stream.counts, preparation, options, !isListed))
    told.push({ kind: "warning", text });
  for (const text of counts.notes(stream.counts, preparation)) told.push({ kind: "note", text });
  yield* told.splice(0);
  const { regions, reads, pairs } = stream.counts;
  yield { kind: "end", counts: { regions, reads, setAside: counts.setAside, pairs } };
}

/** Puts the blocks before each record beside it. @param {import("./reference_blocks.js").ReferenceWalk} walk @param {import("./events.js").CalledSite[]} records */
async function addBlocks(walk, records) {
  for (const record of records) {
    record.before = await walk.until(record.chrom, record.pos);
    walk.passOver(record.chrom, record.pos + record.ref.length);
  }
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
  const asked = await findPlaces(inputs, reference, warn);
  const reader = await AlignmentReader.open(inputs.alignments, reference, native, asked !== null, tell);
  const contigs = contigOrder(reader, reference);
  const known = withContext(asked, reference);
  const samples = reader.samples.length;
  const files = { inputs, native, reference, contigs, samples };
  const { source, wanted } = chooseRegions(files, { asked, known }, options, warn);
  const isListed = wanted !== null;
  const leftOut = new LeftOut();
  const check = new ReferenceCheck(reference, reader.checksums, warn);
  checkRecords(inputs, options, isListed, samples);
  checkContigs(reference.path, contigs.keys());
  const strModel = await strModelOf(inputs, options);
  const families = inputs.pedigree ? await familiesIn(inputs.pedigree, reader.samples, { tell, warn }) : [];
  // The profile model has no indel qualities.
  const selection = { ...options, indelTags: options.indelTags && options.model === "gatk" };
  const request = { contigs: [...contigs.keys()], selection, chunkSize: options.chunkSize, regions: known };
  return {
    native,
    reference,
    source,
    blocks: check.watch(readBlocks(native, reader.sources, request, wanted, leftOut)),
    walk: options.gvcf ? walkOf(native, reference, contigs, asked, options) : null,
    extent: await runExtent(reader, contigs, known),
    preparation: new Preparation(native, options, strModel),
    genotyper: new RegionGenotyper(native, samples, families, options, !isListed),
    isListed,
    begin: {
      samples: reader.samples,
      contigs: [...contigs],
      reference: reference.path,
      model: modelText(options, strModel),
      annotations: siteAnnotations(native),
      pieces: asked?.length ?? 0,
    },
    conclude: () => {
      const paths = inputs.alignments.map((one) => one.name).join(", ");
      leftOut.conclude(paths, known === null && wanted === null, tell, warn);
    },
  };
}
