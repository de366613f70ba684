// What the reads at a position show, and what discovery makes of it (pairhmm/explain/): in the core's words.

import { Native } from "../cpu/native.js";
import { AlignmentReader } from "../files/alignments.js";
import { Reference } from "../files/fasta.js";
import { parseRegion } from "../files/intervals.js";
import { InputProblem } from "../files/problem.js";
import { together } from "../files/read_block.js";
import { readBlocks } from "../files/read_blocks.js";
import { LeftOut, REASONS } from "../files/selection.js";
import { Core } from "./core.js";
import { strModelOf } from "./option_files.js";
import { chosenOptions, setOptions } from "./options.js";
import { contigOrder, withContext } from "./places.js";

/** @import { Engine } from "../engine.js" */
/** @import { ReadBlock } from "../files/read_block.js" */
/** @import { CallOptions } from "./options.js" */
/** @import { Inputs } from "./run.js" */

/** `reason`: why discovery has no candidate there; empty where it has one. */
/** @typedef {{place: string, reason: string, sections: [title: string, lines: string[]][]}} Explanation */

const TITLES = ["Reads", "Alleles of alignments", "Assembly"];
const CHUNK = 20_000;
const silent = () => {};

/**
 * Explains a position: `chr:position`, 1-based.
 *
 * @param {Inputs} inputs of which alignments and reference are used
 * @param {Partial<CallOptions>} options
 * @param {Engine} engine
 * @param {string} text
 * @returns {Promise<Explanation>}
 * @throws {InputProblem}
 */
export async function explain(inputs, options, engine, text) {
  const chosen = chosenOptions(options);
  if (chosen.mixture) throw new InputProblem("--mixture", "", "has no genotypes to explain", "leave it out");
  const native = await Native.start(engine.module);
  const reference = await Reference.open(inputs.reference, silent);
  const { chrom, start, end } = parseRegion(text, reference.contigs, "POSITION");
  if (end - start !== 1) throw new InputProblem("POSITION", text, "not one position", "write chr:position, 1-based");
  const reader = await AlignmentReader.open(inputs.alignments, reference, native, true, silent);
  const contigs = contigOrder(reader, reference);
  const core = new Core(native, reference, contigs, reader.samples);
  setOptions(core, chosen, await strModelOf(inputs, chosen));
  const shift = native.call.max_shift();
  const around = withContext([{ chrom, start: start - shift, end: end + shift }], reference);
  /** @param {object} selection @returns {Promise<ReadBlock | null>} */
  const readsBy = async (selection) => {
    const own = { ...chosen, indelTags: false, defaultBaseQuality: 0, ...selection };
    const request = { contigs: [...contigs.keys()], selection: own, chunkSize: CHUNK, regions: around };
    /** @type {ReadBlock[]} */
    const blocks = [];
    for await (const block of readBlocks(native, reader.sources, request, null, new LeftOut())) blocks.push(block);
    return blocks.length ? together(blocks) : null;
  };
  const [all, used] = [await readsBy({ excludedFlags: 0, minMapq: 0 }), await readsBy({})];
  const { reason, facts } = await core.explained({ chrom, position: start, all, used }, chosen, REASONS);
  return {
    place: `${chrom}:${end}`,
    reason,
    sections: facts.map((lines, i) => [TITLES[i], lines.length ? lines : ["none"]]),
  };
}
