// Distances of samples: all of them for a heatmap, or each sample's nearest where there are too many.
// pairhmm/report/distances.py makes the same for the report.

const HEATMAP_SAMPLES = 500;
const NEAREST = 3; // of each sample
const DIGITS = 6;

export class ShownDistances {
  /** @param {import("./reading.js").Table} table */
  constructor(table) {
    this.table = table;
    /** @type {Map<string, number>} */
    this.numbers = new Map();
    /** @type {[number, number, (number | null)[]][][]} of each sample its nearest: distance, number, values */
    this.nearest = [];
    /** @type {[number, number, number, number | null][] | null} pairs with Mash distance and ANI */
    this.pairs = [];
    this.rows = 0;
  }

  /** @param {import("./reading.js").Row} row */
  add(row) {
    const { table } = this;
    const [jaccard, containment, ani] = ["jaccard", "containment", "ani"].map((name) => table.number(row, name));
    // A table where nothing is above chance has no figures.
    const isUnknown = [jaccard, containment, ani].every((value) => value === null);
    const mash = isUnknown ? table.number(row, "mash_distance") : table.known(row, "mash_distance");
    const [one, other] = [this.#number(row.sample_1), this.#number(row.sample_2)];
    if (one === other) return;
    this.rows++;
    if (mash === null) {
      this.pairs = null;
      return;
    }
    for (const [own, its] of [
      [one, other],
      [other, one],
    ]) {
      const kept = this.nearest[own];
      const place = kept.findIndex(([distance, number]) => distance > mash || (distance === mash && number > its));
      kept.splice(place < 0 ? kept.length : place, 0, [mash, its, [mash, ani, containment, jaccard]]);
      kept.length = Math.min(kept.length, NEAREST);
    }
    if (this.numbers.size > HEATMAP_SAMPLES) this.pairs = null;
    this.pairs?.push([one, other, mash, ani]);
  }

  /** @param {string} sample */
  #number(sample) {
    const known = this.numbers.get(sample);
    if (known !== undefined) return known;
    this.numbers.set(sample, this.nearest.length);
    return this.nearest.push([]) - 1;
  }

  /** As the panels of the report take it. */
  forPage() {
    return {
      samples: [...this.numbers.keys()],
      pairs: this.rows,
      most: HEATMAP_SAMPLES,
      nearest: this.nearest.flatMap((kept, own) => kept.map(([, its, values]) => [own, its, ...values.map(short)])),
      heatmap: this.#heatmap(),
    };
  }

  /** Null if the table lacks pairs, or has too many. */
  #heatmap() {
    const count = this.numbers.size;
    if (!this.pairs || count < 2) return null;
    const [mash, ani] = [0, 1].map((own) =>
      Array.from({ length: count }, (_, row) => new Float64Array(count).fill(NaN).fill(own, row, row + 1)),
    );
    for (const [one, other, distance, identity] of this.pairs) {
      mash[one][other] = mash[other][one] = distance;
      ani[one][other] = ani[other][one] = identity ?? NaN;
    }
    if (mash.some((row) => row.some(Number.isNaN))) return null;
    const [mashes, anis] = [mash, ani].map((matrix) =>
      matrix.flatMap((values, row) => Array.from(values.subarray(row + 1), short)),
    );
    return { mash: mashes, ani: anis };
  }
}

/** @param {number | null} value */
const short = (value) => (value === null || Number.isNaN(value) ? null : Number(value.toFixed(DIGITS)));
