// Distances of samples: a heatmap in the order of its tree, and each sample's nearest.

import { sequential, themeColour } from "./colours.js";
import { card, make, makeCanvas } from "./dom.js";
import { pictureTools } from "./export.js";
import { MISSING, formatNumber, plural } from "./format.js";
import { legend, matrixCanvas } from "./matrix.js";
import { DataTable, figures } from "./table.js";
import { averageLinkage } from "./tree.js";

const DISTANCE_DIGITS = 5;
const MATRIX_SIDE = 900; // CSS pixels of the largest heatmap
export const NOTHING_ALIKE =
  "No two samples are more alike than chance: sketch with more bits, more slots or a smaller k";
const TREE_WIDTH = 160;

export function distancePanels({ distances }) {
  const { pairs, nearest, heatmap } = distances;
  if (pairs && !nearest.length) return [card("Distances", `${NOTHING_ALIKE} (${plural(pairs, "pair")}).`)];
  return [heatmap ? heatmapCard(distances) : noHeatmap(distances), nearestCard(distances)];
}

function noHeatmap({ samples, most }) {
  const why =
    samples.length > most
      ? `A heatmap is drawn of at most ${formatNumber(most)} samples, and these are ${formatNumber(samples.length)}.`
      : "The table does not have every pair, so there is no heatmap.";
  return card("Distances", `${why} Below are each sample's nearest.`);
}

function heatmapCard({ samples, heatmap }) {
  const { mash, ani } = heatmap;
  const { order, merges } = averageLinkage(matrixOf(mash, samples.length));
  const names = order.map((sample) => samples[sample]);
  const at = (row, column) => triangleIndex(order[row], order[column], samples.length);
  const value = (row, column) => (row === column ? null : mash[at(row, column)]);
  const [low, high] = rangeOf(mash);
  const colour = (distance) => sequential(high > low ? 1 - (distance - low) / (high - low) : 1);
  const cell = Math.max(2, Math.min(22, Math.floor(MATRIX_SIDE / samples.length)));
  const canvas = matrixCanvas({
    label: `Mash distances of each two of ${samples.length} samples`,
    rows: names,
    columns: names,
    cell,
    value,
    colour,
    describe: (row, column, distance) => {
      if (row === column) return [["sample", names[row]]];
      return [
        ["samples", `${names[row]} and ${names[column]}`],
        ["Mash distance", formatNumber(distance, DISTANCE_DIGITS)],
        ["ANI", aniText(ani[at(row, column)])],
      ];
    },
  });
  const tree = treeCanvas(samples, order, merges, canvas.rowPlaces);
  return card(
    "Distances",
    "Mash distance of each two samples, in the order of the tree at the right (average linkage). Darker is closer.",
    make("div", { class: "wide tree" }, canvas, tree),
    pictureTools(canvas, "distances"),
    pictureTools(tree, "tree of distances"),
    legend((share) => sequential(1 - share), formatNumber(low, DISTANCE_DIGITS), formatNumber(high, DISTANCE_DIGITS)),
  );
}

const aniText = (ani) => (ani === null ? MISSING : `${formatNumber(100 * ani, 3)} %`);

// Where a pair stands among the values above the diagonal, row after row.
function triangleIndex(one, other, count) {
  const [row, column] = one < other ? [one, other] : [other, one];
  return row * count - (row * (row + 1)) / 2 + column - row - 1;
}

// The whole matrix of the values above its diagonal.
const matrixOf = (values, count) =>
  Array.from({ length: count }, (_, row) =>
    Float64Array.from({ length: count }, (__, column) =>
      row === column ? 0 : values[triangleIndex(row, column, count)],
    ),
  );

function rangeOf(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return [low, high];
}

// The tree: leaves beside the heatmap's rows, the root at the right. Where it joins is the mean distance.
function treeCanvas(samples, order, merges, { top, high }) {
  const most = merges.at(-1)?.[2] || 1;
  const xOf = (distance) => 4 + (distance / most) * (TREE_WIDTH - 12);
  const height = top + order.length * high;
  const draw = (context) => {
    const nodes = new Map(order.map((sample, row) => [sample, [4, top + (row + 0.5) * high]]));
    context.strokeStyle = themeColour("--ink");
    context.lineWidth = 1;
    merges.forEach(([one, other, distance], number) => {
      const x = xOf(distance);
      const [[x1, y1], [x2, y2]] = [nodes.get(one), nodes.get(other)];
      context.beginPath();
      context.moveTo(x1, y1);
      context.lineTo(x, y1);
      context.lineTo(x, y2);
      context.lineTo(x2, y2);
      context.stroke();
      nodes.set(samples.length + number, [x, (y1 + y2) / 2]);
    });
    context.fillStyle = themeColour("--faint");
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "alphabetic";
    context.textAlign = "left";
    context.fillText("0", 2, top - 4);
    context.textAlign = "right";
    context.fillText(formatNumber(most, DISTANCE_DIGITS), TREE_WIDTH - 4, top - 4);
  };
  return makeCanvas(TREE_WIDTH, height, "Tree of the samples by average linkage of their distances", draw);
}

function nearestCard({ samples, nearest }) {
  const columns = [
    { title: "Sample", value: (index) => samples[nearest[index][0]] },
    { title: "Nearest", told: "Of the nearest samples, nearest first", value: (index) => samples[nearest[index][1]] },
    ...[
      ["Distance", "Mash distance"],
      ["ANI", "Average nucleotide identity, estimated"],
      ["Containment", "Share of the smaller sample's k-mers that the other has"],
      ["Jaccard", "Jaccard index"],
    ].map(([title, told], number) =>
      figures(title, (index) => nearest[index][number + 2], { told, digits: DISTANCE_DIGITS }),
    ),
  ];
  const table = new DataTable(columns, {
    label: "nearest samples",
    noun: "pair",
    count: nearest.length,
    hint: "filter: a name, distance<0.001 …",
  });
  const told = `The nearest of each of ${plural(samples.length, "sample")}, by Mash distance.`;
  return card("Nearest samples", told, table.element);
}
