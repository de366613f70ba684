// Distances of samples: all of them for a heatmap, or each sample's nearest where there are too many.
// pairhmm/report/distances.py makes the same for the report.

/** @typedef {{samples: [number, number], mash: number, values: (number | null)[]}} Kept */

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
    const { merges, order } = averageLinkage(mash);
    return { mash: mashes, ani: anis, order, merges: merges.map(([one, other, mean]) => [one, other, short(mean)]) };
  }
}

/** @param {number | null} value */
const short = (value) => (value === null || Number.isNaN(value) ? null : Number(value.toFixed(DIGITS)));

/** @typedef {[number, number, number]} Merge two clusters, or two of their samples, and their mean distance */

/**
 * Joins the two clusters with the least mean distance until one is left (UPGMA). Chains of nearest neighbours find the
 * pairs, in time that grows with the square of the samples (Murtagh 1983).
 *
 * @param {Float64Array[]} distances symmetric; used up
 * @returns {{merges: Merge[], order: number[]}} merge m makes cluster `samples + m`
 */
export function averageLinkage(distances) {
  const merges = inOrder(joined(distances), distances.length);
  const members = distances.map((_, sample) => [sample]);
  for (const [one, other] of merges) members.push([...members[one], ...members[other]]);
  return { merges, order: members.at(-1) ?? [] };
}

/** The merges as the chain finds them: a sample of each cluster, and the distance. @param {Float64Array[]} work */
function joined(work) {
  const count = work.length;
  work.forEach((row, sample) => (row[sample] = Infinity));
  const sizes = new Float64Array(count).fill(1);
  const left = new Set(work.keys());
  /** @type {number[]} */
  const chain = [];
  /** @type {Merge[]} */
  const found = [];
  while (found.length < count - 1) {
    if (!chain.length) chain.push(/** @type {number} */ (left.values().next().value));
    extend(chain, work);
    const gone = /** @type {number} */ (chain.pop());
    const kept = /** @type {number} */ (chain.pop());
    found.push([kept, gone, work[kept][gone]]);
    join(work, sizes, kept, gone);
    left.delete(gone);
  }
  return found;
}

/** Goes from neighbour to nearest neighbour, until two are each other's. @param {number[]} chain @param {Float64Array[]} work */
function extend(chain, work) {
  for (;;) {
    const own = work[chain[chain.length - 1]];
    const before = chain.at(-2);
    const nearest = own.reduce((best, distance, sample) => (distance < own[best] ? sample : best), 0);
    // Of equally near ones the chain's own comes first. Otherwise it could run in a circle.
    if (before !== undefined && own[before] <= own[nearest]) return;
    chain.push(nearest);
  }
}

/** @param {Float64Array[]} work @param {Float64Array} sizes @param {number} kept @param {number} gone */
function join(work, sizes, kept, gone) {
  const total = sizes[kept] + sizes[gone];
  const mean = work[kept].map((distance, at) => (sizes[kept] * distance + sizes[gone] * work[gone][at]) / total);
  work.forEach((row, sample) => {
    row[kept] = mean[sample];
    row[gone] = Infinity;
  });
  work[kept].set(mean);
  work[kept][kept] = work[kept][gone] = Infinity;
  work[gone].fill(Infinity);
  sizes[kept] = total;
}

/** The merges by their distances, with the numbers of the clusters that they join. @param {Merge[]} found @param {number} count */
function inOrder(found, count) {
  const cluster = Array.from({ length: count }, (_, sample) => sample);
  const top = (/** @type {number} */ sample) => {
    while (cluster[sample] !== sample) sample = cluster[sample];
    return sample;
  };
  return found
    .toSorted((a, b) => a[2] - b[2])
    .map(([one, other, distance]) => {
      const [low, high] = [top(one), top(other)].sort((a, b) => a - b);
      const own = cluster.push(cluster.length) - 1;
      cluster[low] = cluster[high] = own;
      return /** @type {Merge} */ ([low, high, distance]);
    });
}
