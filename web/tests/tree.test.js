// The tree of a heatmap, beside a search for the two nearest clusters.

import assert from "node:assert/strict";
import { test } from "node:test";

import { averageLinkage } from "../../pairhmm/report/page/tree.js";
import { random } from "./random.js";

/** @param {number[][]} distances */
function searched(distances) {
  const clusters = distances.map((_, sample) => ({ number: sample, members: [sample] }));
  const merges = [];
  while (clusters.length > 1) {
    let [best, first, second] = [Infinity, 0, 1];
    clusters.forEach((one, i) =>
      clusters.slice(0, i).forEach((other, j) => {
        const all = one.members.flatMap((a) => other.members.map((b) => distances[a][b]));
        const mean = all.reduce((sum, distance) => sum + distance) / all.length;
        if (mean < best) [best, first, second] = [mean, i, j];
      }),
    );
    const pair = [clusters[first], clusters[second]].sort((a, b) => a.number - b.number);
    merges.push([pair[0].number, pair[1].number, best]);
    const joined = { number: distances.length + merges.length - 1, members: pair.flatMap(({ members }) => members) };
    clusters.splice(0, clusters.length, ...clusters.filter((one) => !pair.includes(one)), joined);
  }
  return { merges, order: clusters[0].members };
}

test("clusters join as a search finds them", () => {
  const next = random(5);
  const distances = Array.from({ length: 30 }, () => Array(30).fill(0));
  distances.forEach((row, i) => row.slice(0, i).forEach((_, j) => (row[j] = distances[j][i] = next())));
  const expected = searched(distances);
  const found = averageLinkage(distances.map((row) => Float64Array.from(row)));
  assert.deepEqual(found.order, expected.order);
  found.merges.forEach(([one, other, mean], at) => {
    assert.deepEqual([one, other], expected.merges[at].slice(0, 2));
    assert.ok(Math.abs(mean - expected.merges[at][2]) < 1e-12);
  });
});
