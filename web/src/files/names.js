// Names that fit tables and VCF (pairhmm/files/names.py).

import { quoted } from "./contig_names.js";
import { InputProblem } from "./problem.js";

const CONTROL = /[\x00-\x1f\x7f]/;
const RULE = "a name with a tab, a line break or another control character";

/**
 * Requires names without control characters.
 *
 * @param {string} path
 * @param {string} what what the names belong to, such as `sample`
 * @param {Iterable<string>} names
 * @param {string} cure
 */
export function checkNames(path, what, names, cure) {
  for (const name of names) {
    if (CONTROL.test(name)) throw new InputProblem(path, `${what} ${quoted(name)}`, RULE, cure);
  }
}

/** A file name for a line of the shell (Python's shlex.quote). @param {string} path */
export function forShell(path) {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'"'"'`)}'`;
}

/** A text for a header line. @param {string} text */
export function printable(text) {
  return text.replace(new RegExp(CONTROL, "g"), (found) => quoted(found).slice(1, -1));
}
