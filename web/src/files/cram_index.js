// The index of a CRAM file, and whether it belongs to its file (pairhmm/io/alignments/index.py).

import { CraiIndex } from "@gmod/cram";

import { InputProblem } from "./problem.js";
import { SourceFile } from "./sources.js";

/** @typedef {import("@gmod/cram").CramFile} CramFile */
/** @typedef {import("./sources.js").Source} Source */

// The most slices whose containers are looked up in the file, of this machine or of another.
const [LOOKED_UP, LOOKED_UP_THERE] = [32, 3];
const SEVERAL_CONTIGS = -2;

/**
 * @param {Source} source
 * @param {SourceFile} file
 * @param {CramFile} cram the same
 * @param {number} contigs of its header
 * @throws {InputProblem} for a damaged index, and for that of another file
 */
export async function openCramIndex(source, file, cram, contigs) {
  const name = `${file.name}.crai`;
  const cure = `run samtools index ${file.name}`;
  const index = new CraiIndex({ filehandle: new SourceFile(name, source).handle });
  const parsed = await index.parseIndex().catch(() => {
    throw new InputProblem(name, "", "is damaged, or no index", cure);
  });
  const slices = Object.entries(parsed).flatMap(([tid, own]) =>
    (own ?? []).map((slice) => ({ tid: Number(tid), slice })),
  );
  const why = await contradiction(slices, file, cram, contigs);
  if (why) throw new InputProblem(name, "", `is not the index of ${file.name} as it is now: ${why}`, cure);
  return index;
}

/**
 * What in an index contradicts its file; null where nothing does.
 *
 * @param {{tid: number, slice: import("./cram.js").SlicePlace}[]} slices
 * @param {SourceFile} file
 * @param {CramFile} cram
 * @param {number} contigs
 */
async function contradiction(slices, file, cram, contigs) {
  const size = await file.size();
  const most = Math.max(-1, ...new Set(slices.map(({ tid }) => tid)));
  if (most >= contigs) return `it has ${most + 1} contigs, the file ${contigs}`;
  const reaches = slices.map(({ slice }) => slice.containerStart + slice.sliceStart + slice.sliceBytes);
  if (reaches.some((end) => end > size)) return "it leads beyond the file's end";
  const step = Math.ceil(slices.length / (file.isRemote ? LOOKED_UP_THERE : LOOKED_UP));
  for (let i = 0; i < slices.length; i += step) {
    const { tid, slice } = slices[i];
    const head = await cram
      .getContainerAtPosition(slice.containerStart)
      .getHeader()
      .catch(() => null);
    const isIt = head && (head.refSeqId === tid || head.refSeqId === SEVERAL_CONTIGS);
    if (!isIt || head.length <= 0 || head.length > size - slice.containerStart) {
      return "no slice of the file begins where it says";
    }
  }
  return null;
}
