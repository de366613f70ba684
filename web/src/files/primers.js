// Primers of a tiling scheme, from the BED that primalscheme writes (pairhmm/alignments/primers.py). 0-based half-open.

import { bedLines } from "./intervals.js";
import { InputProblem } from "./problem.js";

/** @import { Interval } from "./intervals.js" */
/** @import { Source } from "./sources.js" */
/** @typedef {Interval & {isReverse: boolean}} Primer */

const [NAME, STRAND] = [3, 5];
/** @type {Record<string, boolean>} endings of names, which tell the strand of a primer without one */
const ENDINGS = { LEFT: false, F: false, FWD: false, RIGHT: true, R: true, REV: true };

/**
 * @param {{name: string, data: Source}} file
 * @param {Map<string, number>} contigs
 * @returns {Promise<Primer[]>}
 * @throws {InputProblem} for a line that can't be used, and for a file without one
 */
export async function readPrimers(file, contigs) {
  /** @type {Primer[]} */
  const primers = [];
  for await (const { interval, cells, place } of bedLines(file, contigs)) {
    primers.push({ ...interval, isReverse: isReverse(file.name, place, cells) });
  }
  if (primers.length) return primers;
  const cure = "give the BED of the scheme: chrom, start, end, name, pool, strand";
  throw new InputProblem(file.name, "", "no primer in it", cure);
}

/** @param {string} path @param {string} place @param {string[]} cells */
function isReverse(path, place, cells) {
  if (["+", "-"].includes(cells[STRAND])) return cells[STRAND] === "-";
  const parts = (cells[NAME] ?? "").toUpperCase().split("_");
  const ending = parts.reverse().find((part) => part in ENDINGS);
  if (ending !== undefined) return ENDINGS[ending];
  const rule = "a primer without a strand, and whose name has neither LEFT nor RIGHT";
  throw new InputProblem(path, place, rule, "write + or - into the sixth column");
}
