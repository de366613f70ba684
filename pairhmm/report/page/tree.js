// A tree of samples by average linkage.

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
