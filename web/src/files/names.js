// Names that fit tables and VCF, and those of contigs in messages (pairhmm/files/names.py, pairhmm/sequences/fasta.py).

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

const LISTED = 3;
const ESCAPED = /[\x00-\x1f\x7f-\xa0\xad]/g;

/** The first few names, for a message. @param {string[]} names */
export function listed(names) {
  return names.slice(0, LISTED).join(", ") + (names.length > LISTED ? ", ..." : "");
}

/**
 * The contig that has the same name except for case, for a `chr` at the start, and for MT in place of M.
 *
 * @param {string} name
 * @param {Iterable<string>} contigs
 */
export function sameContig(name, contigs) {
  /** @param {string} contig */
  const bare = (contig) => contig.toLowerCase().replace(/^chr/, "").replace(/^mt$/, "m");
  return [...contigs].find((contig) => bare(contig) === bare(name));
}

const ALLOWED = /^[\w!$%&+./:;?@^|~-][\w!$%&+./:;?@^|~#*=-]*$/;
const LETTER = /[\w!$%&+./:;?@^|~#*=-]/;

/**
 * Requires names of contigs that VCF can hold (pairhmm/variants/header.py).
 *
 * @param {string} path the file that names them
 * @param {Iterable<string>} names
 */
export function checkContigs(path, names) {
  for (const name of names) {
    if (ALLOWED.test(name)) continue;
    const wrong = [...name].find((letter) => !LETTER.test(letter)) ?? name[0];
    const where = wrong === name[0] && "#*=".includes(wrong) ? " at the beginning" : "";
    const rule = `VCF allows no ${quoted(wrong)}${where} in the name of a contig`;
    throw new InputProblem(path, `contig ${quoted(name)}`, rule, "rename it in the reference and in the alignments");
  }
}

/** Python's repr of a text, as messages have it. @param {string} text */
export function quoted(text) {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(/\\/g, "\\\\").replace(mark === "'" ? /'/g : /^$/, "\\'");
  return mark + escaped.replace(ESCAPED, escapeOf) + mark;
}

/** @param {string} letter */
function escapeOf(letter) {
  if ("\n\r\t".includes(letter)) return JSON.stringify(letter).slice(1, -1);
  return `\\x${letter.charCodeAt(0).toString(16).padStart(2, "0")}`;
}
