// The parents that a PED file names, and families among the samples of a run (pairhmm/variants/pedigree.py).

import { quoted } from "./names.js";
import { InputProblem } from "./problem.js";
import { SourceFile } from "./sources.js";
import { textLines } from "./text_lines.js";

/** @import { Source } from "./sources.js" */
/** @typedef {[string, string]} Parents father and mother; empty where not known */
/** @typedef {{father: number, mother: number, children: number[]}} SampleFamily indices of samples */

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

/**
 * The families whose parents and children are among the samples. They may share members, but close no loop: there the
 * later family is left out.
 *
 * @param {Map<string, Parents>} parents by child
 * @param {string[]} samples
 * @returns {{families: SampleFamily[], leftOut: string[]}} with the children of families that are left out
 */
export function familiesOf(parents, samples) {
  const index = new Map(samples.map((name, number) => [name, number]));
  /** @type {Map<string, SampleFamily>} */
  const ofParents = new Map();
  for (const [name, both] of parents) {
    const [child, father, mother] = [name, ...both].map((one) => index.get(one));
    if (child === undefined || father === undefined || mother === undefined) continue;
    const key = `${father},${mother}`;
    const family = ofParents.get(key) ?? { father, mother, children: [] };
    ofParents.set(key, { ...family, children: [...family.children, child] });
  }
  const head = samples.map((_, number) => number);
  /** The first member of those that families connect with this one. @param {number} member */
  const headOf = (member) => {
    while (head[member] !== member) member = head[member];
    return member;
  };
  /** @type {SampleFamily[]} */
  const families = [];
  /** @type {string[]} */
  const leftOut = [];
  for (const family of ofParents.values()) {
    const members = [family.father, family.mother, ...family.children];
    const heads = new Set(members.map(headOf));
    if (heads.size < members.length) leftOut.push(...family.children.map((child) => samples[child]));
    else {
      families.push(family);
      for (const one of heads) head[one] = Math.min(...heads);
    }
  }
  return { families, leftOut };
}
