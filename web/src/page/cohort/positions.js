// The map of samples: positions, and what they are blended from (pairhmm/report/map.py).

import { listOf, numberOf, UNKNOWN } from "./reading.js";

/** @typedef {[number, number]} Place */
/** @typedef {{place: Place | null, exact: Place | null, neighbours: string[], groups: Place[]}} Placed */

const ABOVE = "pairhmmMap";
const CURE = "give a table that pairhmm map draw wrote";

export class ShownPositions {
  /** @param {import("./reading.js").Table} table */
  constructor(table) {
    this.table = table;
    const stems = table.columns.filter((name) => name.endsWith("_x")).map((name) => name.slice(0, -2));
    this.groups = stems.filter((stem) => table.columns.includes(`${stem}_y`) && !["exact", "cell"].includes(stem));
    /** @type {Map<string, Placed>} */
    this.samples = new Map();
  }

  /** @param {import("./reading.js").Row} row */
  add(row) {
    const { table } = this;
    if (this.samples.has(row.sample)) {
      throw table.wrong(`sample ${row.sample} stands in it twice`, "give the table of one run");
    }
    const [x, y] = [table.number(row, "exact_x"), table.number(row, "exact_y")];
    const isPlaced = row.x !== UNKNOWN || row.y !== UNKNOWN;
    // A sample without properties of a group is at 0 there.
    const orZero = (/** @type {string} */ column) => table.number(row, column) ?? 0;
    this.samples.set(row.sample, {
      place: isPlaced ? [table.known(row, "x"), table.known(row, "y")] : null,
      exact: x === null || y === null ? null : [x, y],
      neighbours: listOf(row.neighbours),
      groups: this.groups.map((group) => [orZero(`${group}_x`), orZero(`${group}_y`)]),
    });
  }

  /** As the panel of the report takes it: neighbours are compressed sparse rows. */
  forPage() {
    const numbers = new Map([...this.samples.keys()].map((name, number) => [name, number]));
    const samples = [...this.samples.values()];
    const weights = this.#above("Weights");
    const trust = this.#above("Trustworthiness");
    const offsets = [0];
    for (const { neighbours } of samples) offsets.push(offsets[offsets.length - 1] + neighbours.length);
    return {
      samples: [...numbers.keys()],
      groups: this.groups,
      weights: this.groups.map((name) => weights.get(name) ?? 0),
      alpha: this.#number("Alpha"),
      passes: Math.trunc(this.#number("Passes")),
      trustworthiness: { map: trust.get("map") ?? null, exact: trust.get("exact") ?? null },
      places: samples.every(({ place }) => place) ? samples.map(({ place }) => place) : null,
      exact: samples.some(({ exact }) => exact) ? samples.map(({ exact }) => exact) : null,
      projections: this.groups.map((_, group) => samples.map(({ groups }) => groups[group])),
      neighbours: [...this.samples].flatMap(([own, { neighbours }]) =>
        neighbours.map((name) => {
          const number = numbers.get(name);
          if (number !== undefined) return number;
          throw new Error(`${this.table.name}: ${name}, a neighbour of ${own}, has no line; give the whole table`);
        }),
      ),
      offsets,
    };
  }

  /** @param {string} key */
  #number(key) {
    const text = this.table.above.get(ABOVE + key) ?? "";
    const value = numberOf(text);
    if (!Number.isNaN(value)) return value;
    throw this.#wrong(key, text ? `is '${text}', which is not a number` : "is missing");
  }

  /** Values of NAME=NUMBER,NAME=NUMBER, or with colons; unknown ones are left out. @param {string} key */
  #above(key) {
    /** @type {Map<string, number>} */
    const found = new Map();
    for (const part of (this.table.above.get(ABOVE + key) ?? "").split(",").filter(Boolean)) {
      const [, name, text] = /^(.*)[=:](.*)$/.exec(part) ?? ["", "", ""];
      if (text === UNKNOWN) continue;
      if (Number.isNaN(numberOf(text))) throw this.#wrong(key, `'${part}' is no name and number`);
      found.set(name, numberOf(text));
    }
    return found;
  }

  /** @param {string} key @param {string} rule */
  #wrong(key, rule) {
    return new Error(`${this.table.name}: ##${ABOVE}${key}: ${rule}; ${CURE}`);
  }
}
