// Checks that the index of a BAM file is sound and belongs to that file (pairhmm/alignments/index.py).

import { BamIndex, DamagedIndex } from "./bam_index.js";
import { DamagedBlock, isBlock } from "./bgzf.js";
import { unzipped } from "./byte_stream.js";
import { checkLookups, Contradiction } from "./index_lookup.js";
import { requireRising } from "./index_offsets.js";
import { InputProblem } from "./problem.js";
import { SourceFile } from "./sources.js";

/** @typedef {import("./bam.js").Header} Header */
/** @typedef {import("./bam_index.js").Place} Place */
/** @typedef {import("./sources.js").Source} Source */

/**
 * @param {Source} source
 * @param {SourceFile} file the BAM
 * @param {Header} header
 * @param {Place} first the file's first record
 * @throws {InputProblem} for a damaged index, and for that of another file
 */
export async function openBamIndex(source, file, { names }, first) {
  const bytes = await new SourceFile(`${file.name}.bai`, source).whole();
  const name = `${file.name}.${isBlock(bytes.subarray(0, 18)) ? "csi" : "bai"}`;
  /** @param {string} rule */
  const problem = (rule) => new InputProblem(name, "", rule, `run samtools index ${file.name}`);
  const content = await unzipped(bytes);
  if (!content) throw problem("is damaged, or no index");
  try {
    const index = BamIndex.parse(content);
    requireRising(index);
    await checkLookups(index, file, first, names).catch((error) => {
      // A damaged file is reported where it is read.
      if (!(error instanceof DamagedBlock)) throw error;
    });
    return index;
  } catch (error) {
    if (error instanceof DamagedIndex) throw problem(`is damaged: ${error.message}`);
    if (error instanceof Contradiction) {
      throw problem(`is not the index of ${file.name} as it is now: ${error.message}`);
    }
    throw error;
  }
}
