// What the reads at a position show, and what discovery and genotyping make of them (pairhmm/explain/): in the core's words.

import { Native } from "../cpu/native.js";
import { AlignmentReader } from "../files/alignments.js";
import { Reference } from "../files/fasta.js";
import { parseRegion } from "../files/intervals.js";
import { InputProblem } from "../files/problem.js";
import { together } from "../files/read_block.js";
import { LeftOut, REASONS } from "../files/selection.js";
import { runBlocks, UnrolledReference } from "./circles.js";
import { Core } from "./core.js";
import { lookAtLibrary } from "./library.js";
import { primersOf, strModelOf } from "./option_files.js";
import { chosenOptions, setOptions } from "./options.js";
import { contigOrder, withContext } from "./places.js";

/** @import { Engine } from "../engine.js" */
/** @import { ReadBlock } from "../files/read_block.js" */
/** @import { CallOptions } from "./options.js" */
/** @import { Inputs } from "./run.js" */

/** `reason`: why discovery has no candidate there; empty where it has one. */
/** @typedef {{place: string, reason: string, sections: [title: string, lines: string[]][]}} Explanation */

const TITLES = ["Reads", "Alleles of alignments", "Assembly", "Genotypes"];
const CHUNK = 20_000;
const silent = () => {};

/**
 * Explains a position: `chr:position`, 1-based.
 *
 * @param {Inputs} inputs of which alignments, reference and primers are used
 * @param {Partial<CallOptions>} options
 * @param {Engine} engine
 * @param {string} text
 * @returns {Promise<Explanation>}
 * @throws {InputProblem}
 */
export async function explain(inputs, options, engine, text) {
  /** @type {CallOptions} */
  const chosen = { ...chosenOptions(options), gvcf: false };
  if (chosen.mixture) throw new InputProblem("--mixture", "", "has no genotypes to explain", "leave it out");
  const native = await Native.start(engine.module);
  const reference = new UnrolledReference(await Reference.open(inputs.reference, silent), chosen.circular);
  const { genome } = reference;
  chosen.primers = await primersOf(inputs, genome);
  const { chrom, start, end } = parseRegion(text, genome.contigs, "POSITION");
  if (end - start !== 1) throw new InputProblem("POSITION", text, "not one position", "write chr:position, 1-based");
  const reader = await AlignmentReader.open(inputs.alignments, genome, native, true, silent);
  reference.checkAligned(
    reader.contigs,
    inputs.alignments.map((one) => one.name),
  );
  const contigs = reference.unrolled(contigOrder(reader, genome));
  const core = new Core(native, reference, contigs, reader.samples);
  const strModel = await strModelOf(inputs, chosen);
  setOptions(core, chosen, strModel);
  await lookAtLibrary(core, reader, contigs, chosen, strModel, silent);
  const shift = native.call.max_shift();
  const position = start + reference.onContig(chrom);
  const length = /** @type {number} */ (contigs.get(chrom));
  const place = [{ chrom, start: Math.max(0, position - shift), end: Math.min(length, position + 1 + shift) }];
  const around = withContext(place, reference);
  /** @param {object} selection */
  const readsBy = (selection) => {
    const own = { ...chosen, indelTags: chosen.indelTags && chosen.model === "gatk", ...selection };
    const request = { contigs: [...contigs.keys()], selection: own, chunkSize: CHUNK, regions: around };
    return runBlocks(core, reader.sources, request, null, new LeftOut());
  };
  const every = { indelTags: false, defaultBaseQuality: 0 };
  const all = await whole(readsBy({ ...every, excludedFlags: 0, minMapq: 0 }));
  const used = await whole(readsBy(every));
  await core.explain({ chrom, position, all, used }, chosen, REASONS);
  core.limitTo(place, around);
  for await (const { batch } of core.batches(readsBy({}))) {
    await core.regions(await engine.forward(batch));
    await core.explainSites();
  }
  const { reason, facts } = core.explained;
  return {
    place: `${chrom}:${end}`,
    reason,
    sections: facts.map((lines, i) => [TITLES[i], lines.length ? lines : ["none"]]),
  };
}

/** All reads of some blocks; null without any. @param {AsyncIterable<ReadBlock>} blocks */
async function whole(blocks) {
  /** @type {ReadBlock[]} */
  const parts = [];
  for await (const block of blocks) parts.push(block);
  return parts.length ? together(parts) : null;
}
