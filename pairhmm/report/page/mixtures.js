// Mixtures: the depth along each contig, the fractions of alleles with their intervals, and tiles without enough depth.

import { themeColour } from "./colours.js";
import { banner, card, make, makeCanvas, mark, plotWidth } from "./dom.js";
import { pictureTools } from "./export.js";
import { formatNumber, percentOf, plural, shortened } from "./format.js";
import { PASSED, filterPill } from "./genotypes.js";
import { drawPoint, nearestPoint } from "./points.js";
import { DataTable, figures } from "./table.js";
import { tellOnHover } from "./tooltip.js";

const TRACK = {
  widest: 1180,
  left: 62,
  right: 16,
  top: 12,
  depth: 150,
  tiles: 30,
  fractions: 190,
  gap: 14,
  bottom: 40,
};
const TILE_HEIGHT = 8;
const LEAST_DECADES = 2; // of fractions: down to 1 % at least
const INDEL = "diamond";
const SNV = "circle";

export function showMixtures(report) {
  const { tracks, minDepth } = report.mixtures;
  const cards = tracks.flatMap((track) => [
    trackCard(report, track, minDepth),
    track.alleles.length ? allelesCard(report, track) : null,
    track.tiles.length ? tilesCard(report, track, minDepth) : null,
  ]);
  return make("div", { class: "view" }, ...tracks.map((track) => dropoutBanner(report, track, minDepth)), ...cards);
}

const titleOf = (report, { sample, contig }) => `${report.samples[sample]}, ${contig}`;

const dropoutsOf = ({ tiles }, minDepth) => tiles.filter(([, , , median]) => median < minDepth);

function dropoutBanner(report, track, minDepth) {
  if (!track.tiles.length) return null;
  const dropouts = dropoutsOf(track, minDepth);
  const names = dropouts.map(([name]) => name).join(", ");
  const of = `${titleOf(report, track)}: ${formatNumber(dropouts.length)} of ${plural(track.tiles.length, "tile")}`;
  const told = `${of} with a median depth below ${formatNumber(minDepth)}${names ? `: ${names}` : ""}`;
  return banner("Dropouts", dropouts.length > 0, make("span", {}, told));
}

function trackCard(report, track, minDepth) {
  const title = titleOf(report, track);
  const canvas = trackCanvas(title, track, minDepth);
  const told = track.depth
    ? "Depth counts molecules: mates that overlap count once. The band reaches from the lowest to the highest of a bin."
    : "The depth of the reads is known with --alignments.";
  return card(
    title,
    `${told} Fractions have their 95% intervals. Both scales are logarithmic.`,
    make("div", { class: "wide" }, canvas),
    pictureTools(canvas, title),
    trackLegend(track, minDepth),
  );
}

function trackLegend({ depth, tiles }, minDepth) {
  const signs = depth
    ? [
        ["--accent", "median depth"],
        ["--warn", `depth ${formatNumber(minDepth)}${tiles.length ? ", dropouts" : ""}`],
      ]
    : [];
  if (tiles.length) signs.push(["--mapped", "tiles"]);
  signs.push(["--ink", "alleles: SNV a circle, indel a diamond, hollow if it fails a filter"]);
  const parts = signs.map(([colour, told]) => make("span", {}, mark(`var(${colour})`), told));
  return make("div", { class: "legend shapes" }, ...parts);
}

// The places of a track's parts, from the top: depth, tiles, fractions.
function layoutOf(track) {
  const width = plotWidth(TRACK.widest);
  const depthEnd = TRACK.top + (track.depth ? TRACK.depth : 0);
  const tilesEnd = depthEnd + (track.tiles.length ? TRACK.tiles : TRACK.gap);
  const fractionsEnd = tilesEnd + (track.alleles.length ? TRACK.fractions : 0);
  const inner = width - TRACK.left - TRACK.right;
  return {
    width,
    depthEnd,
    tilesEnd,
    fractionsEnd,
    height: fractionsEnd + TRACK.bottom,
    right: width - TRACK.right,
    xOf: (position) => TRACK.left + (position / track.length) * inner,
    positionAt: (x) => Math.floor(((x - TRACK.left) / inner) * track.length),
  };
}

function trackCanvas(title, track, minDepth) {
  const layout = layoutOf(track);
  const depthScale = track.depth ? scaleOfDepth(track.depth, layout) : null;
  const shareScale = scaleOfFractions(track.alleles, layout);
  const points = track.alleles.map(([position, , , fraction]) => [
    layout.xOf(position - 0.5),
    shareScale.yOf(fraction),
  ]);
  const draw = (context) => {
    const dropouts = dropoutsOf(track, minDepth);
    shade(context, layout, dropouts);
    drawPositions(context, track, layout);
    if (track.depth) drawDepth(context, track.depth, layout, depthScale, minDepth);
    drawTiles(context, track, layout, minDepth);
    if (track.alleles.length) drawAlleles(context, track.alleles, points, layout, shareScale);
  };
  const counts = `${plural(track.alleles.length, "allele")}, ${plural(track.tiles.length, "tile")}`;
  const canvas = makeCanvas(layout.width, layout.height, `Depth and fractions along ${title}: ${counts}`, draw);
  tellOnHover(canvas, (x, y) => {
    const nearest = nearestPoint(points, x, y);
    return nearest >= 0 ? rowsOfAllele(track.alleles[nearest]) : rowsOfPlace(track, layout.positionAt(x));
  });
  return canvas;
}

// Depths from 1 to the power of ten above the highest. 0 lies where 1 does.
function scaleOfDepth({ high }, { depthEnd }) {
  const decades = Math.max(1, Math.ceil(Math.log10(Math.max(...high, 2))));
  const yOf = (depth) => depthEnd - (Math.log10(Math.max(1, depth)) / decades) * (depthEnd - TRACK.top);
  return { decades, yOf };
}

// Fractions from the power of ten below the lowest up to 1. Intervals may reach below, and end there.
function scaleOfFractions(alleles, { tilesEnd, fractionsEnd }) {
  const least = Math.min(...alleles.map(([, , , fraction]) => fraction || 1));
  const decades = Math.min(4, Math.max(LEAST_DECADES, Math.ceil(-Math.log10(least))));
  const yOf = (fraction) =>
    tilesEnd + Math.min(1, -Math.log10(Math.max(fraction, 10 ** -decades)) / decades) * (fractionsEnd - tilesEnd);
  return { decades, yOf };
}

function drawAxis(context, { yOf, decades }, valueOf, textOf, right) {
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (let decade = 0; decade <= decades; decade++) {
    const y = Math.round(yOf(valueOf(decade)));
    context.fillStyle = themeColour("--line");
    context.fillRect(TRACK.left, y, right - TRACK.left, 1);
    context.fillStyle = themeColour("--faint");
    context.fillText(textOf(valueOf(decade)), TRACK.left - 8, y);
  }
  context.textBaseline = "alphabetic";
}

function drawPositions(context, { length, contig }, { xOf, width, fractionsEnd, height }) {
  const step = roundStep(length / Math.max(3, Math.floor(width / 100)));
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "center";
  for (let position = step; position < length - step / 3; position += step) {
    context.fillStyle = themeColour("--line");
    context.fillRect(Math.round(xOf(position)), fractionsEnd, 1, 5);
    context.fillStyle = themeColour("--faint");
    context.fillText(formatNumber(position), xOf(position), fractionsEnd + 18);
  }
  context.fillStyle = themeColour("--faint");
  context.fillText(`position on ${shortened(contig, 30)}`, xOf(length / 2), height - 6);
}

// The round number, 1, 2 or 5 times a power of ten, at or above a value.
function roundStep(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return Math.max(
    1,
    [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= value),
  );
}

function shade(context, { xOf, fractionsEnd }, dropouts) {
  context.fillStyle = themeColour("--warn");
  context.globalAlpha = 0.14;
  for (const [, start, end] of dropouts) {
    context.fillRect(xOf(start), TRACK.top, Math.max(1, xOf(end) - xOf(start)), fractionsEnd - TRACK.top);
  }
  context.globalAlpha = 1;
}

function drawDepth(context, { low, median, high }, { depthEnd, right }, scale, minDepth) {
  const xOf = (bin) => TRACK.left + ((bin + 0.5) / median.length) * (right - TRACK.left);
  drawAxis(context, scale, (decade) => 10 ** decade, formatNumber, right);
  context.fillStyle = themeColour("--accent");
  context.globalAlpha = 0.25;
  const wide = Math.max(1, (right - TRACK.left) / median.length);
  high.forEach((most, bin) => {
    const top = scale.yOf(most);
    context.fillRect(xOf(bin) - wide / 2, top, wide, scale.yOf(low[bin]) - top);
  });
  context.globalAlpha = 1;
  context.strokeStyle = themeColour("--accent");
  context.lineWidth = 1.5;
  context.beginPath();
  median.forEach((depth, bin) => context.lineTo(xOf(bin), scale.yOf(depth)));
  context.stroke();
  context.strokeStyle = themeColour("--warn");
  context.setLineDash([5, 4]);
  context.beginPath();
  context.moveTo(TRACK.left, scale.yOf(minDepth));
  context.lineTo(right, scale.yOf(minDepth));
  context.stroke();
  context.setLineDash([]);
  drawName(context, "depth", TRACK.top, depthEnd);
}

// Neighbouring tiles overlap, so they lie in two rows. One over the origin of a circle has two parts.
function drawTiles(context, { tiles, length }, { xOf, depthEnd }, minDepth) {
  tiles.forEach(([, start, end, median], number) => {
    context.fillStyle = themeColour(median < minDepth ? "--warn" : "--mapped");
    const top = depthEnd + 6 + (number % 2) * (TILE_HEIGHT + 2);
    for (const [from, to] of [
      [start, Math.min(end, length)],
      [0, end - length],
    ]) {
      if (from < to) context.fillRect(xOf(from), top, Math.max(1, xOf(to) - xOf(from)), TILE_HEIGHT);
    }
  });
}

function drawAlleles(context, alleles, points, { tilesEnd, fractionsEnd, right }, scale) {
  const textOf = (share) =>
    `${formatNumber(percentOf(share), share < 0.01 ? Math.round(-Math.log10(share)) - 2 : 0)} %`;
  drawAxis(context, scale, (decade) => 10 ** -decade, textOf, right);
  alleles.forEach(([, ref, alt, , low, high, , , filters], number) => {
    const [x, y] = points[number];
    const passes = PASSED.includes(filters);
    const colour = themeColour(passes ? "--ink" : "--faint");
    context.fillStyle = colour;
    if (low !== undefined && low !== null) {
      context.fillRect(x - 0.5, scale.yOf(high), 1, scale.yOf(low) - scale.yOf(high));
    }
    drawPoint(context, ref.length === alt.length ? SNV : INDEL, x, y, 3, colour, !passes);
  });
  drawName(context, "fraction", tilesEnd, fractionsEnd);
}

// What an axis measures, upright beside its numbers.
function drawName(context, text, top, bottom) {
  context.save();
  context.translate(11, (top + bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillStyle = themeColour("--faint");
  context.fillText(text, 0, 0);
  context.restore();
}

const change = (ref, alt) => `${shortened(ref)}>${shortened(alt)}`;

const percent = (share) => `${formatNumber(percentOf(share), 2)} %`;

function rowsOfAllele([position, ref, alt, fraction, low, high, depth, , filters]) {
  const rows = [
    ["position", formatNumber(position)],
    ["allele", change(ref, alt)],
    ["fraction", percent(fraction)],
  ];
  if (low !== undefined && low !== null) rows.push(["95 % interval", `${percent(low)} to ${percent(high)}`]);
  if (depth !== null) rows.push(["depth", formatNumber(depth)]);
  return [...rows, ["filter", filters]];
}

function rowsOfPlace({ length, depth, tiles }, position) {
  if (position < 0 || position >= length) return null;
  const rows = [["position", formatNumber(position + 1)]];
  if (depth) {
    const bin = Math.floor((position / length) * depth.median.length);
    rows.push(["median depth", formatNumber(depth.median[bin])]);
    rows.push(["lowest, highest", `${formatNumber(depth.low[bin])}, ${formatNumber(depth.high[bin])}`]);
  }
  for (const [name, start, end, median] of tiles) {
    if ((start <= position && position < end) || position + length < end)
      rows.push([name, `median ${formatNumber(median)}`]);
  }
  return rows;
}

function allelesCard(report, track) {
  const { alleles } = track;
  const title = titleOf(report, track);
  const share = (name, place, told) => ({
    ...figures(name, (index) => percentOf(alleles[index][place] ?? null), { told, digits: 2 }),
  });
  const columns = [
    figures("Position", (index) => alleles[index][0]),
    { title: "Ref", value: (index) => alleles[index][1], text: (index) => shortened(alleles[index][1], 12) },
    { title: "Alt", value: (index) => alleles[index][2], text: (index) => shortened(alleles[index][2], 12) },
    share("Fraction %", 3, "The fraction of the molecules that have the allele (AF)"),
    share("Low %", 4, "The lower end of its 95 % interval (CIAF)"),
    share("High %", 5, "The upper end of its 95 % interval (CIAF)"),
    figures("Depth", (index) => alleles[index][6], { told: "DP" }),
    figures("Qual", (index) => alleles[index][7], { told: "QUAL, Phred" }),
    { title: "Filter", value: (index) => alleles[index][8], cell: (index) => filterPill(alleles[index][8]) },
  ];
  const options = { label: `alleles of ${title}`, noun: "allele", count: alleles.length };
  const table = new DataTable(columns, { ...options, hint: "filter: fraction>5, filter=PASS …" });
  return card(`Alleles of ${title}`, "", table.element);
}

function tilesCard(report, track, minDepth) {
  const tiles = track.tiles.toSorted((one, other) => one[3] - other[3]);
  const title = titleOf(report, track);
  const columns = [
    { title: "Tile", value: (index) => tiles[index][0] },
    figures("Begin", (index) => tiles[index][1] + 1),
    figures("End", (index) => tiles[index][2]),
    figures("Depth", (index) => tiles[index][3], { told: "Median depth" }),
  ];
  const options = { label: `tiles of ${title}`, noun: "tile", count: tiles.length };
  const table = new DataTable(columns, {
    ...options,
    hint: `filter: depth<${minDepth} …`,
    rowClass: (index) => (tiles[index][3] < minDepth ? "failed" : null),
  });
  return card(`Tiles of ${title}`, "The lowest median depth first, between the primers.", table.element);
}
