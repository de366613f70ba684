// Relations of samples against the sheet, checks of each sample, and their flags.
// pairhmm/report/relatedness.py makes the same for the report.

import { listOf, textOf } from "./reading.js";

/** @import { Row } from "./reading.js" */
/** @typedef {{row: (string | number | null)[], names: [string, string], flags: string[], stands: boolean}} Pair */

const PAIRS_SHOWN = 20_000; // flagged pairs and those with a relation come first
const UNRELATED = "unrelated";

/** Relations that agree with an expected one. */
const LOOSE = new Map([["related", ["siblings", "parent-child"]]]);

/** The rows of a table of pairs. It holds those that are shown. */
export class ShownPairs {
  /** @param {import("./reading.js").Table} table */
  constructor(table) {
    this.table = table;
    /** @type {Map<string, number>} */
    this.numbers = new Map();
    this.count = 0;
    /** @type {Pair[]} */
    this.telling = [];
    /** @type {Pair[]} */
    this.others = [];
    this.otherCount = 0;
    this.step = 1;
  }

  /** @param {Row} row */
  add(row) {
    const pair = this.#pair(row);
    this.count++;
    for (const name of pair.names) if (!this.numbers.has(name)) this.numbers.set(name, this.numbers.size);
    const found = textOf(row.found);
    if (pair.stands || (found !== null && found !== UNRELATED)) this.telling.push(pair);
    else this.#addOther(pair);
  }

  /** Of unrelated pairs every n-th is held. n doubles when they are too many. @param {Pair} pair */
  #addOther(pair) {
    if (this.otherCount++ % this.step === 0) this.others.push(pair);
    if (this.others.length <= PAIRS_SHOWN) return;
    this.others = everyNth(this.others, 2);
    this.step *= 2;
  }

  /** @param {Row} row @returns {Pair} */
  #pair(row) {
    const { table } = this;
    const [expected, found] = [textOf(row.expected), textOf(row.found)];
    const flags = listOf(row.flags);
    const isOther = expected !== null && found !== null && found !== expected;
    const contradicts = isOther && !LOOSE.get(expected)?.includes(found);
    const [sites, ...counts] = ["sites", "ibs0", "ibs2", "shared_hets"].map((name) => table.count(row, name));
    const [concordance, relatedness] = ["concordance", "relatedness"].map((name) => table.number(row, name));
    const texts = [expected, found, flags.join(","), textOf(row.note ?? ".")];
    return {
      names: [row.sample_1, row.sample_2],
      row: [sites, concordance, ...counts, relatedness, ...texts],
      flags,
      stands: flags.length > 0 || contradicts,
    };
  }

  /** As the panels of the report take it. */
  forPage() {
    const telling = this.telling.toSorted((a, b) => Number(b.stands) - Number(a.stands)).slice(0, PAIRS_SHOWN);
    const room = PAIRS_SHOWN - telling.length;
    const shown = [...telling, ...(room ? everyNth(this.others, Math.ceil(this.others.length / room) || 1) : [])];
    return {
      samples: [...this.numbers.keys()],
      count: this.count,
      standing: shown.filter(({ stands }) => stands).length,
      rows: shown.map(({ names, row }) => [...names.map((name) => this.numbers.get(name)), ...row]),
    };
  }
}

/** The rows of a table of samples. */
export class ShownChecks {
  /** @param {import("./reading.js").Table} table */
  constructor(table) {
    this.table = table;
    /** @type {Map<string, (string | number | null)[]>} */
    this.rows = new Map();
  }

  /** @param {Row} row */
  add(row) {
    const { table } = this;
    if (this.rows.has(row.sample)) {
      throw table.wrong(`sample ${row.sample} stands in it twice`, "give the table of one run");
    }
    const columns = ["depth", "heterozygosity", "contamination", "contamination_low", "contamination_high"];
    const numbers = columns.map((column) => table.number(row, column));
    this.rows.set(row.sample, [row.sample, table.count(row, "sites"), ...numbers, listOf(row.flags).join(",")]);
  }

  forPage() {
    return [...this.rows.values()];
  }
}

/**
 * What the first screen says: how many samples, and how many pairs, have each flag, and what was not looked at.
 *
 * @param {ShownPairs | undefined} pairs @param {(string | number | null)[][]} checks
 */
export function flagSummary(pairs, checks) {
  const ofSamples = countsOf(checks.map((check) => listOf(/** @type {string} */ (check.at(-1)))));
  const ofPairs = countsOf((pairs?.telling ?? []).map(({ flags }) => flags));
  const names = new Set([...ofSamples.keys(), ...ofPairs.keys()]);
  return {
    flags: [...names].map((name) => [name, ofSamples.get(name) ?? 0, ofPairs.get(name) ?? 0]),
    pairs: pairs?.count ?? 0,
    estimated: checks.filter((check) => check[4] !== null).length,
    samples: checks.length,
  };
}

/** @param {string[][]} flags @returns {Map<string, number>} */
function countsOf(flags) {
  const counts = new Map();
  for (const name of flags.flat()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** @template T @param {T[]} values @param {number} step */
const everyNth = (values, step) => values.filter((_, index) => index % step === 0);
