// A run: files to regions to genotypes, as a stream of events (pairhmm/calling/opening.py, run.py, region_choice.py). The
// way from reads to records is that of the core (core.js).

import { Native } from "../cpu/native.js";
import { AlignmentReader } from "../files/alignments.js";
import { CandidateReader } from "../files/candidates.js";
import { checkContigs } from "../files/names.js";
import { Reference } from "../files/fasta.js";
import { ReferenceCheck } from "../files/reference_check.js";
import { LeftOut } from "../files/selection.js";
import { notes, warnings } from "./announcements.js";
import { runBlocks, UnrolledReference } from "./circles.js";
import { Core } from "./core.js";
import { lookAtLibrary } from "./library.js";
import { listedWithin, tee, wantedIntervals } from "./listed.js";
import { CONTEXT, contigOrder, Extent, findPlaces, runExtent, wholeContigs, withContext } from "./places.js";
import { checkRecords, familiesIn, modelText, primersOf, strModelOf } from "./option_files.js";
import { chosenOptions, setOptions } from "./options.js";

/** @import { AlignmentFile } from "../files/alignments.js" */
/** @import { ReferenceFiles } from "../files/fasta.js" */
/** @import { Source } from "../files/sources.js" */
/** @import { BegunBatch, Scores } from "./core.js" */
/** @import { Engine } from "../engine.js" */
/** @import { RunEvent, TextEvent } from "./events.js" */
/** @import { CallOptions } from "./options.js" */

/**
 * @typedef {object} Inputs
 * @property {AlignmentFile[]} alignments
 * @property {ReferenceFiles} reference
 * @property {{name: string, data: Source, index?: Source}} [variants] candidates, as -v
 * @property {{name: string, data: Source}} [intervals] BED, as -R
 * @property {string} [region] as -r
 * @property {{name: string, data: Source}} [strModel] as --str-model, a file
 * @property {{name: string, data: Source}} [pedigree] as --ped
 * @property {{name: string, data: Source}} [primers] as --primers
 */

/**
 * Scores and genotypes what is asked for.
 *
 * @param {Inputs} inputs
 * @param {Partial<CallOptions>} options
 * @param {Engine} engine
 * @returns {AsyncGenerator<RunEvent>}
 * @throws {import("../files/problem.js").InputProblem} for files that can't be used; the message names file, record and cure
 */
export async function* run(inputs, options, engine) {
  const chosen = chosenOptions(options);
  /** @type {TextEvent[]} */
  const told = [];
  try {
    const opened = await open(inputs, chosen, engine, told);
    yield { kind: "begin", ...opened.begin };
    yield* scored(opened, engine, chosen, told);
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
 * @returns {AsyncGenerator<RunEvent>}
 */
async function* scored({ core, blocks, isListed, extent, begin, conclude }, engine, options, told) {
  const parameters = options.model === "profile" ? options.parameters : null;
  for await (const { prepared, scores } of ahead(core.batches(blocks), engine)) {
    const regions = await core.regions(await scores);
    for (const [number, region] of regions.entries()) {
      yield* told.splice(0);
      yield { kind: "region", ...region, prepared: (read) => prepared(number, read), parameters };
      const [chrom, , end] = region.haplotypes.split("\t", 3);
      yield { kind: "progress", done: extent.done(chrom, Number(end)), of: extent.total };
    }
  }
  yield { kind: "rest", records: await core.rest() };
  conclude();
  const { counts } = core;
  for (const text of warnings(counts, options, begin.samples, !isListed)) told.push({ kind: "warning", text });
  for (const text of notes(counts)) told.push({ kind: "note", text });
  yield* told.splice(0);
  const { regions, reads, setAside, pairs } = counts;
  yield { kind: "end", counts: { regions, reads, setAside, pairs } };
}

/** Batches with their scores to come. While one is scored, the next one is made. @param {AsyncIterable<BegunBatch>} batches @param {Engine} engine */
async function* ahead(batches, engine) {
  /** @type {{prepared: BegunBatch["prepared"], scores: Promise<Scores>} | null} */
  let before = null;
  for await (const { batch, prepared } of batches) {
    const scores = engine.forward(batch);
    // The error is thrown where the scores are awaited.
    scores.catch(() => {});
    if (before) yield before;
    before = { prepared, scores };
  }
  if (before) yield before;
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
  const reference = new UnrolledReference(await Reference.open(inputs.reference, warn), options.circular);
  const { genome, circles } = reference;
  options.primers = await primersOf(inputs, genome);
  const places = await findPlaces(inputs, reference, warn);
  const needIndex = places !== null || circles.size > 0;
  const reader = await AlignmentReader.open(inputs.alignments, genome, native, needIndex, tell);
  const paths = inputs.alignments.map((one) => one.name);
  reference.checkAligned(reader.contigs, paths);
  const inFile = contigOrder(reader, genome);
  const contigs = reference.unrolled(inFile);
  const turned = circles.size ? reference.turned(places ?? wholeContigs(inFile), 1) : places;
  // A gVCF has no block under a deletion, also where that begins before the origin.
  const asked = turned && options.gvcf ? reference.withEnds(turned, CONTEXT) : turned;
  const known = withContext(asked, reference);
  const isListed = inputs.variants !== undefined;
  checkRecords(inputs, options, reader.samples.length);
  checkContigs(reference.path, contigs.keys());
  const given = await strModelOf(inputs, options);
  const core = new Core(native, reference, contigs, reader.samples);
  setOptions(core, options, given);
  const strModel = await lookAtLibrary(core, reader, contigs, options, given, tell);
  core.limitTo(asked, known);
  if (inputs.pedigree) core.addFamilies(await familiesIn(inputs.pedigree, reader.samples, { tell, warn }));
  /** @type {(() => AsyncGenerator<import("../files/intervals.js").Interval>) | null} */
  let wanted = null;
  if (inputs.variants) {
    const candidates = new CandidateReader(inputs.variants, inFile, reference, known !== null, warn);
    const listed = listedWithin(
      reference.allTurns(candidates.variants()),
      known && new Extent(known),
      native,
      reference,
    );
    const [first, ...copies] = tee(listed, 1 + (circles.size ? 0 : inputs.alignments.length));
    core.take(first);
    const [reach, shift] = [options.assembly ? native.call.longest_window() : 0, native.call.max_shift()];
    if (!circles.size) wanted = () => wantedIntervals(/** @type {typeof first} */ (copies.pop()), reach, shift);
  }
  const leftOut = new LeftOut();
  const check = new ReferenceCheck(reference, reader.checksums, warn);
  // The profile model has no indel qualities.
  const selection = { ...options, indelTags: options.indelTags && options.model === "gatk" };
  const request = { contigs: [...contigs.keys()], selection, chunkSize: options.chunkSize, regions: known };
  return {
    core,
    blocks: check.watch(runBlocks(core, reader.sources, request, wanted, leftOut)),
    extent: runExtent(reader, contigs, known && reference.turned(known, -1)),
    isListed,
    begin: {
      samples: reader.samples,
      contigs: [...inFile],
      reference: reference.path,
      model: modelText(options, strModel),
    },
    conclude: () => leftOut.conclude(paths.join(", "), known === null && wanted === null, tell, warn),
  };
}
