// STR models in TOML files, as `pairhmm calibrate-str` writes them (pairhmm/models/str_parameters.py).

import { CORE } from "../models/parameters.js";
import { checkPacking, SourceFile } from "./sources.js";
import { InputProblem } from "./problem.js";

/** @import { Source } from "./sources.js" */

/**
 * Phred qualities of gaps by the tandem repeat at a base: rows of units of 1 to 8 bases, end to end, with a number for 1
 * (no repeat), 2, ... 20 copies.
 *
 * @typedef {{name: string, insertion: number[], deletion: number[], gap: number[]}} StrModel
 */

const TABLES = ["insertion_opening", "deletion_opening", "gap_continuation"];
const UNITS = Array.from({ length: CORE.longestRepeatUnit }, (_, index) => `unit_${index + 1}`);
const HIGHEST_QUALITY = 127;
const FORMAT = "see docs/model.md for the format";
// A table's name, or a key with a list of numbers. Files of STR models have nothing else.
const PART = /\[([A-Za-z0-9_-]+)\]|([A-Za-z0-9_-]+)\s*=\s*\[([\d\s.,+-]*)\]/y;

/**
 * The STR model in a file.
 *
 * @param {{name: string, data: Source}} given
 * @returns {Promise<StrModel>}
 * @throws {InputProblem} for a file that is none
 */
export async function readStrModel({ name, data }) {
  const file = new SourceFile(name, data);
  await checkPacking(file);
  const tables = parsed(name, new TextDecoder().decode(await file.whole()));
  checkKeys(name, "", [...tables.keys()], TABLES);
  const [insertion, deletion, gap] = TABLES.map((table) => {
    const rows = /** @type {Map<string, string[]>} */ (tables.get(table));
    checkKeys(name, `${table}.`, [...rows.keys()], UNITS);
    return UNITS.flatMap((unit) => qualities(name, `${table}.${unit}`, rows.get(unit) ?? []));
  });
  return { name, insertion, deletion, gap };
}

/** Lists by table and key. @param {string} path @param {string} text */
function parsed(path, text) {
  const letters = text.replace(/#.*/g, "").trim();
  /** @type {Map<string, Map<string, string[]>>} */
  const tables = new Map();
  /** @type {Map<string, string[]> | undefined} */
  let table;
  for (let at = 0; at < letters.length;) {
    PART.lastIndex = at;
    const found = PART.exec(letters);
    if (!found || (!table && !found[1])) throw new InputProblem(path, "", "no file of an STR model", FORMAT);
    const [whole, tableName, key, list] = found;
    if (tableName) tables.set(tableName, (table = new Map()));
    else table?.set(key, list.match(/[^\s,]+/g) ?? []);
    at += whole.length;
    while (/\s/.test(letters[at] ?? "")) at++;
  }
  if (!tables.size) throw new InputProblem(path, "", "holds no parameters", FORMAT);
  return tables;
}

/** @param {string} path @param {string} prefix @param {string[]} found @param {string[]} expected */
function checkKeys(path, prefix, found, expected) {
  const unknown = found.find((key) => !expected.includes(key));
  if (unknown) throw new InputProblem(path, prefix + unknown, "unknown key", `keys here are ${expected.join(", ")}`);
  const missing = expected.find((key) => !found.includes(key));
  if (missing) throw new InputProblem(path, prefix + missing, "missing", `give all of ${expected.join(", ")}`);
}

/** @param {string} path @param {string} place @param {string[]} texts */
function qualities(path, place, texts) {
  if (texts.length !== CORE.mostRepeats) {
    throw new InputProblem(path, place, `must have ${CORE.mostRepeats} values`, "one for each number of copies from 1");
  }
  const wrong = texts.find((text) => !(Number(text) >= 0 && Number(text) <= HIGHEST_QUALITY));
  if (wrong !== undefined) {
    const cure = `use Phred qualities from 0 to ${HIGHEST_QUALITY}`;
    throw new InputProblem(path, place, `${wrong} is not a quality`, cure);
  }
  return texts.map((text) => roundHalfEven(Number(text)));
}

/** As Python rounds. @param {number} value */
function roundHalfEven(value) {
  return Math.abs(value % 1) === 0.5 ? 2 * Math.round(value / 2) : Math.round(value);
}
