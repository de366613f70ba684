// The tables of a cohort: which file is which, and all of them as the report's panels take them.

import { ShownDistances } from "./distances.js";
import { ShownPositions } from "./positions.js";
import { flagSummary, ShownChecks, ShownPairs } from "./relations.js";
import { Table } from "./table.js";

/** @typedef {import("../files.js").Given} Given */
/** @typedef {{positions?: ShownPositions, distances?: ShownDistances, pairs?: ShownPairs, checks?: ShownChecks}} Shown */

const columnsOf = (/** @type {string} */ names) => names.split(" ");

/** Columns that tell the tables apart, and the command that writes each. The first that fits counts. */
const KINDS = [
  {
    kind: /** @type {const} */ ("distances"),
    madeBy: "pairhmm map distances",
    columns: columnsOf("sample_1 sample_2 jaccard mash_distance containment ani"),
    make: ShownDistances,
  },
  {
    kind: /** @type {const} */ ("pairs"),
    madeBy: "pairhmm map relate",
    columns: columnsOf("sample_1 sample_2 sites concordance ibs0 ibs2 shared_hets relatedness expected found flags"),
    make: ShownPairs,
  },
  {
    kind: /** @type {const} */ ("checks"),
    madeBy: "pairhmm map relate --sample-table",
    columns: columnsOf("sample sites depth heterozygosity contamination contamination_low contamination_high flags"),
    make: ShownChecks,
  },
  {
    kind: /** @type {const} */ ("positions"),
    madeBy: "pairhmm map draw",
    columns: columnsOf("sample x y exact_x exact_y neighbours"),
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
      await readTable(await tableOf(one), shown);
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

/** @param {Given} one */
async function tableOf({ name, data }) {
  return new Table(name, typeof data === "string" ? await (await fetch(data)).blob() : data);
}

/** @param {Table} table @param {Shown} shown takes it */
async function readTable(table, shown) {
  /** @type {Shown[keyof Shown]} */
  let taken;
  await table.read(() => {
    const found = KINDS.find(({ columns }) => columns.every((column) => table.columns.includes(column)));
    if (!found) {
      throw new Error(`${table.name}: is no table of pairhmm map; give one of map draw, map distances or map relate`);
    }
    const other = shown[found.kind];
    if (other) throw new Error(`${table.name}: ${other.table.name} is such a table already; remove one of them`);
    table.madeBy = found.madeBy;
    const own = new found.make(table);
    taken = own;
    return (row) => own.add(row);
  });
  const { kind } = /** @type {(typeof KINDS)[number]} */ (KINDS.find(({ make }) => taken instanceof make));
  Object.assign(shown, { [kind]: taken });
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
