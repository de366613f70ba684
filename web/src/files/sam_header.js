// What htslib and pysam demand of the lines of a header (pairhmm/alignments/opening.py).

import { InputProblem } from "./problem.js";

const KINDS = new Set(["@HD", "@SQ", "@RG", "@PG", "@CO"]);
const FIELD = /^..:/s;
const NUMBER = /^\s*[+-]?\d+\s*$/;

/** Whether htslib opens a file with this header: each line begins with @. @param {string} text */
export function mayBeHeader(text) {
  const lines = text.replace(/\0.*$/s, "").replace(/\n$/, "");
  return lines === "" || lines.split("\n").every((line) => line.startsWith("@"));
}

/**
 * Requires lines of known kinds, whose fields have a name and a value.
 *
 * @param {string} path
 * @param {string[][]} lines fields of each
 */
export function checkLines(path, lines) {
  for (const [kind, ...fields] of lines) {
    const isSound =
      KINDS.has(kind) && fields.length > 0 && (kind === "@CO" || fields.every((field) => FIELD.test(field)));
    if (!isSound) throw damaged(path);
    const length = kind === "@SQ" && fields.find((field) => field.startsWith("LN:"));
    if (length && !NUMBER.test(length.slice(3))) throw damaged(path);
  }
  if (lines.filter(([kind]) => kind === "@HD").length > 1) throw damaged(path);
}

/**
 * Requires the fields that each line of a kind has.
 *
 * @param {string} path
 * @param {Map<string, string>[]} lines
 * @param {string[]} needed
 */
export function checkFields(path, lines, needed) {
  if (lines.some((line) => needed.some((name) => !line.has(name)))) throw damaged(path);
}

/** @param {string} path */
function damaged(path) {
  return new InputProblem(path, "", "its header can't be read: a line is damaged", "mend it with samtools reheader");
}
