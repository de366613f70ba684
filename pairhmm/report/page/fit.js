// The fit of a model: the likelihood of each round, and the parameters with their standard errors.

import { themeColour } from "./colours.js";
import { card, make, makeCanvas, mark, plotWidth } from "./dom.js";
import { pictureTools, plainTable } from "./export.js";
import { MISSING, formatNumber, plural } from "./format.js";
import { tile } from "./overview.js";
import { drawTicks } from "./points.js";
import { tellOnHover } from "./tooltip.js";

const PLOT = { widest: 640, height: 260, left: 78, right: 20, top: 14, bottom: 40 };
const INTERVAL = { width: 260, height: 20, pad: 8 };
const ERRORS_SHOWN = 2; // standard errors on either side of an estimate
const PAIRS = { sample: ["--faint", "on a part of the reads"], all: ["--accent", "on all reads"] };

export function showFit(report) {
  const { fit } = report;
  return make(
    "div",
    { class: "view" },
    fitSummary(fit),
    fit.rounds.length ? roundsCard(fit.rounds) : null,
    estimatesCard(fit),
  );
}

function fitSummary({ model, source, reads, log10, firstLog10 }) {
  const gain = reads ? (1000 * (log10 - firstLog10)) / reads : null;
  const tiles = [
    [model, "model that was fitted"],
    [formatNumber(reads), `${reads === 1 ? "read" : "reads"} of ${source}`],
    [formatNumber(log10, 1), "log10 likelihood"],
    [formatNumber(gain, 2), "log10 gained for 1,000 reads"],
  ];
  return make("div", { class: "tiles" }, ...tiles.map(([value, what]) => tile(value, what)));
}

function roundsCard(rounds) {
  const kinds = Object.keys(PAIRS).filter((kind) => rounds.some(([pairs]) => pairs === kind));
  const canvas = roundsCanvas(rounds);
  return card(
    "Rounds",
    "log10 likelihood a read, before each round." +
      (kinds.length > 1 ? " The part's reads differ from all reads, so the two curves do not join." : ""),
    make("div", { class: "wide" }, canvas),
    pictureTools(canvas, "rounds"),
    make(
      "div",
      { class: "legend" },
      ...kinds.flatMap((kind) => {
        const { length } = rounds.filter(([pairs]) => pairs === kind);
        return [mark(`var(${PAIRS[kind][0]})`), `${plural(length, "round")} ${PAIRS[kind][1]}`];
      }),
    ),
  );
}

// One place a round from left to right; values fill the height.
function roundsCanvas(rounds) {
  const values = rounds.map(([, , , value]) => value);
  const ticks = niceTicks(Math.min(...values), Math.max(...values));
  const [low, high] = [Math.min(ticks[0], ...values), Math.max(ticks.at(-1), ...values)];
  const { widest, height, left, right, top, bottom } = PLOT;
  const width = plotWidth(widest);
  const xOf = (at) => left + ((at + 0.5) / rounds.length) * (width - left - right);
  const yOf = (value) => height - bottom - ((value - low) / (high - low)) * (height - top - bottom);
  const draw = (context) => {
    const digits = Math.max(0, 1 - Math.floor(Math.log10(ticks[1] - ticks[0])));
    drawTicks(context, ticks, yOf, [left, width - right], digits);
    context.textAlign = "center";
    const step = Math.ceil((30 * rounds.length) / (width - left - right));
    rounds.forEach(([pairs, number], at) => {
      const isFirst = at === 0 || rounds[at - 1][0] !== pairs;
      if (isFirst || number % step === 0) context.fillText(String(number), xOf(at), height - bottom + 16);
    });
    context.fillText("round", (left + width - right) / 2, height - 6);
    for (const [kind, [colour]] of Object.entries(PAIRS)) {
      const own = rounds.flatMap(([pairs, , , value], at) => (pairs === kind ? [[xOf(at), yOf(value)]] : []));
      drawCurve(context, own, themeColour(colour));
    }
  };
  const last = rounds.at(-1);
  const label = `log10 likelihood a read of ${plural(rounds.length, "round")}, from ${values[0]} to ${last[3]}`;
  const canvas = makeCanvas(width, height, label, draw);
  tellOnHover(canvas, (x) => {
    const at = Math.floor(((x - left) / (width - left - right)) * rounds.length);
    if (!rounds[at]) return null;
    const [pairs, number, reads, value] = rounds[at];
    return [
      ["round", `${number}, ${PAIRS[pairs][1]}`],
      ["reads", formatNumber(reads)],
      ["log10 likelihood a read", formatNumber(value, 6)],
    ];
  });
  return canvas;
}

function drawCurve(context, points, colour) {
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = 2;
  context.beginPath();
  points.forEach(([x, y]) => context.lineTo(x, y));
  context.stroke();
  for (const [x, y] of points) {
    context.beginPath();
    context.arc(x, y, 3, 0, 2 * Math.PI);
    context.fill();
  }
}

// Three to seven round numbers that lie around or within a range.
function niceTicks(low, high) {
  const span = high - low || Math.abs(high) || 1;
  const power = 10 ** Math.floor(Math.log10(span / 4));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => span / one <= 5);
  const first = Math.floor(low / step);
  const count = Math.max(1, Math.ceil(high / step) - first);
  return Array.from({ length: count + 1 }, (_, index) => (first + index) * step);
}

function estimatesCard({ estimates, basis }) {
  const least = Math.min(...estimates.map(([, probability]) => probability || 1));
  const decades = Math.max(1, Math.ceil(-Math.log10(least)));
  const rows = estimates.map(([name, probability, error, count]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, name),
      make("td", { class: "number" }, formatProbability(probability)),
      make("td", { class: "number" }, error === null ? MISSING : formatProbability(error)),
      make("td", { class: "number" }, formatNumber(count, 1)),
      make("td", {}, intervalCanvas(name, probability, error, decades)),
    ),
  );
  const heads = ["Parameter", "Estimate", "Standard error", "Expected count", `1e-${decades} to 1, logarithmic`];
  return card(
    "Parameters",
    `Probabilities. Standard errors are of ${basis || "the fit"} A line reaches ${ERRORS_SHOWN} of them to each side;` +
      " one that ends in an arrow reaches zero.",
    plainTable("parameters", heads, rows, { kind: "estimates" }),
  );
}

function formatProbability(value) {
  if (value === 0) return "0";
  if (value === 1) return "1.000"; // rounded to this by the fit
  return value >= 0.001 ? String(Number(value.toPrecision(4))) : value.toExponential(1);
}

// An estimate and its interval on a logarithmic scale that ends at 1.
function intervalCanvas(name, probability, error, decades) {
  const { width, height, pad } = INTERVAL;
  const xOf = (value) =>
    pad + Math.max(0, 1 + Math.log10(Math.min(1, Math.max(value, 1e-300))) / decades) * (width - 2 * pad);
  const middle = height / 2;
  const draw = (context) => {
    context.fillStyle = themeColour("--line");
    for (let decade = 0; decade <= decades; decade++) context.fillRect(xOf(10 ** -decade), 0, 1, height);
    if (error !== null) {
      const low = probability - ERRORS_SHOWN * error;
      const from = low > 10 ** -decades ? xOf(low) : 0;
      context.fillStyle = themeColour("--mapped");
      context.fillRect(from, middle - 1, xOf(probability + ERRORS_SHOWN * error) - from, 2);
      if (from === 0) {
        context.beginPath();
        context.moveTo(0, middle);
        context.lineTo(7, middle - 4);
        context.lineTo(7, middle + 4);
        context.fill();
      }
    }
    context.fillStyle = themeColour("--accent");
    context.beginPath();
    context.arc(xOf(probability), middle, 4, 0, 2 * Math.PI);
    context.fill();
  };
  return makeCanvas(width, height, `${name}: ${probability}, standard error ${error ?? "unknown"}`, draw);
}
