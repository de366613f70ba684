// The parents that a PED file names (pairhmm/variants/pedigree.py).

import { quoted } from "./contig_names.js";
import { InputProblem } from "./problem.js";
import { SourceFile } from "./sources.js";
import { textLines } from "./text_lines.js";

/** @typedef {import("./sources.js").Source} Source */
/** @typedef {[string, string]} Parents father and mother; empty where not known */

const COLUMNS = 6;
const UNKNOWN = ["", "0", ".", "-9"];
const FORMAT = "write family, individual, father, mother, sex, phenotype";

/**
 * @param {{name: string, data: Source}} file
 * @returns {Promise<Map<string, Parents>>} by child
 * @throws {InputProblem} for lines that are none or contradict each other, and where no individual has parents
 */
export async function readPed({ name, data }) {
  /** @type {Map<string, Parents>} */
  const parents = new Map();
  let number = 0;
  let isEmpty = true;
  for await (const lines of textLines(new SourceFile(name, data))) {
    for (const line of lines) {
      const place = `line ${++number}`;
      if (!line.trim() || line.startsWith("#")) continue;
      const byTab = line.split("\t");
      const cells = byTab.length >= COLUMNS ? byTab : line.trim().split(/\s+/);
      if (cells.length < COLUMNS) {
        throw new InputProblem(name, place, `${cells.length} columns, a PED file has ${COLUMNS}`, FORMAT);
      }
      const [individual, father, mother] = cells.slice(1, 4).map((cell) => cell.trim());
      isEmpty = false;
      const both = /** @type {Parents} */ ([father, mother].map((one) => (UNKNOWN.includes(one) ? "" : one)));
      if (both[0] || both[1]) add(parents, name, place, individual, both);
    }
  }
  if (isEmpty) throw new InputProblem(name, "", "names no individual", FORMAT);
  if (!parents.size) throw new InputProblem(name, "", "names no parents", FORMAT);
  return parents;
}

/** @param {Map<string, Parents>} parents @param {string} path @param {string} place @param {string} individual @param {Parents} both */
function add(parents, path, place, individual, both) {
  const [father, mother] = both;
  if (both.includes(individual) || (father === mother && father)) {
    const rule = `${individual} can't have the parents ${quoted(father)} and ${quoted(mother)}`;
    throw new InputProblem(path, place, rule, "correct them");
  }
  const before = parents.get(individual) ?? both;
  parents.set(individual, before);
  if (before[0] !== father || before[1] !== mother) {
    const rule = `${individual} has the parents ${before[0] || "?"} and ${before[1] || "?"} elsewhere`;
    throw new InputProblem(path, place, rule, "give all samples of an individual the same parents");
  }
}
