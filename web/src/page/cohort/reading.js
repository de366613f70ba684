// The tables of a cohort: which file is which, and all of them as the report's panels take them.

import { ShownDistances } from "./distances.js";
import { ShownPositions } from "./positions.js";
import { flagSummary, ShownChecks, ShownPairs } from "./relations.js";

/** @import { Given } from "../files.js" */

/** @typedef {{positions?: ShownPositions, distances?: ShownDistances, pairs?: ShownPairs, checks?: ShownChecks}} Shown */

/** Columns that tell the tables apart, and the command that writes each. The first that fits counts. */
const KINDS = [
  {
    kind: /** @type {const} */ ("distances"),
    madeBy: "pairhmm map distances",
    columns: "sample_1 sample_2 jaccard mash_distance containment ani",
    make: ShownDistances,
  },
  {
    kind: /** @type {const} */ ("pairs"),
    madeBy: "pairhmm map relate",
    columns: "sample_1 sample_2 sites concordance ibs0 ibs2 shared_hets relatedness expected found flags",
    make: ShownPairs,
  },
  {
    kind: /** @type {const} */ ("checks"),
    madeBy: "pairhmm map relate --sample-table",
    columns: "sample sites depth heterozygosity contamination contamination_low contamination_high flags",
    make: ShownChecks,
  },
  {
    kind: /** @type {const} */ ("positions"),
    madeBy: "pairhmm map draw",
    columns: "sample x y exact_x exact_y neighbours",
    make: ShownPositions,
  },
];

/**
 * Reads tables.
 *
 * @param {Given[]} given at most one of each kind is shown
 * @returns what `for_page` of pairhmm/report/map.py gives; null without a table; and a line for each problem
 */
export async function readCohort(given) {
  /** @type {string[]} */
  const problems = [];
  /** @type {Shown} */
  const shown = {};
  for (const one of given) {
    try {
      await readTable(one, shown);
    } catch (error) {
      problems.push(/** @type {Error} */ (error).message);
    }
  }
  if (!Object.keys(shown).length) return { report: null, problems };
  try {
    return { report: reportOf(shown), problems };
  } catch (error) {
    return { report: null, problems: [...problems, /** @type {Error} */ (error).message] };
  }
}

/** @param {Given} one @param {Shown} shown takes it */
async function readTable({ name, data }, shown) {
  const table = new Table(name, typeof data === "string" ? await (await fetch(data)).blob() : data);
  /** @type {Shown} */
  const taken = {};
  await table.read(() => {
    const found = KINDS.find(({ columns }) => columns.split(" ").every((column) => table.columns.includes(column)));
    if (!found) {
      throw new Error(`${table.name}: is no table of pairhmm map; give one of map draw, map distances or map relate`);
    }
    const other = shown[found.kind];
    if (other) throw new Error(`${table.name}: ${other.table.name} is such a table already; remove one of them`);
    table.madeBy = found.madeBy;
    const own = new found.make(table);
    Object.assign(taken, { [found.kind]: own });
    return (row) => own.add(row);
  });
  Object.assign(shown, taken);
}

/** @param {Shown} shown */
function reportOf({ positions, distances, pairs, checks }) {
  checkKnown(pairs, checks);
  const rows = checks?.forPage() ?? [];
  return {
    map: positions?.forPage() ?? null,
    distances: distances?.forPage() ?? null,
    pairs: pairs?.forPage() ?? null,
    checks: rows,
    flags: pairs || rows.length ? flagSummary(pairs, rows) : null,
  };
}

/** @param {ShownPairs | undefined} pairs @param {ShownChecks | undefined} checks */
function checkKnown(pairs, checks) {
  if (!pairs || !checks) return;
  const others = [...pairs.numbers.keys()].filter((name) => !checks.rows.has(name));
  if (!others.length) return;
  const more = others.length > 1 ? ` and ${others.length - 1} more` : "";
  const rule = `has sample ${others[0]}${more}, which ${checks.table.name} does not have`;
  throw new Error(`${pairs.table.name}: ${rule}; give tables of the same samples`);
}

/** @typedef {Record<string, string>} Row texts by column */

export const UNKNOWN = ".";

/** A table with named columns. Lines before them are ##KEY=VALUE; there may be further columns. */
export class Table {
  /** @param {string} name the file's @param {Blob} data */
  constructor(name, data) {
    this.name = name;
    this.data = data;
    this.line = 0;
    /** @type {Map<string, string>} values of lines ##KEY=VALUE */
    this.above = new Map();
    /** @type {string[]} */
    this.columns = [];
    this.madeBy = "pairhmm map";
  }

  /**
   * Reads it to its end.
   *
   * @param {() => (row: Row) => void} begin called once the columns are known; gives what takes the rows
   */
  async read(begin) {
    /** @type {((row: Row) => void) | undefined} */
    let take;
    for await (const lines of linesOf(this.data)) {
      for (const line of lines) {
        this.line++;
        if (line.startsWith("##")) this.#heedAbove(line);
        else if (take) take(this.#row(line));
        else {
          this.columns = line.replace(/^#/, "").split("\t");
          take = begin();
        }
      }
    }
    if (!take) throw new Error(`${this.name}: is empty; give a table that pairhmm map wrote`);
  }

  /** @param {string} line */
  #heedAbove(line) {
    const [key, ...value] = line.slice(2).split("=");
    this.above.set(key, value.join("="));
  }

  /** @param {string} line @returns {Row} */
  #row(line) {
    const fields = line.split("\t");
    if (fields.length !== this.columns.length) {
      const rule = `${fields.length} fields where the header has ${this.columns.length}`;
      throw this.wrong(rule, "the file may be cut off");
    }
    return Object.fromEntries(this.columns.map((column, at) => [column, fields[at]]));
  }

  /** An error of this line. @param {string} rule @param {string} [cure] */
  wrong(rule, cure = `give a table that ${this.madeBy} wrote`) {
    return new Error(`${this.name}: line ${this.line}: ${rule}; ${cure}`);
  }

  /** A number; null for an unknown one. @param {Row} row @param {string} column */
  number(row, column) {
    const text = row[column];
    if (text === UNKNOWN) return null;
    const value = numberOf(text);
    if (!Number.isFinite(value)) throw this.wrong(`${column} '${text}' is not a number`);
    return value;
  }

  /** @param {Row} row @param {string} column */
  known(row, column) {
    const value = this.number(row, column);
    if (value === null) throw this.wrong(`${column} is missing`);
    return value;
  }

  /** @param {Row} row @param {string} column */
  count(row, column) {
    const value = this.number(row, column);
    return value === null ? null : Math.trunc(value);
  }
}

/** @param {string} text */
export const numberOf = (text) => (text.trim() === "" ? NaN : Number(text));

/** @param {string} field */
export const textOf = (field) => (field === UNKNOWN ? null : field);

/** @param {string} field */
export const listOf = (field) => (field === UNKNOWN || field === "" ? [] : field.split(","));

/** Whole lines, many at once. @param {Blob} data */
async function* linesOf(data) {
  const reader = data.stream().pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + part.value).split(/\r?\n/);
    rest = lines.pop() ?? "";
    yield lines;
  }
  if (rest) yield [rest];
}
