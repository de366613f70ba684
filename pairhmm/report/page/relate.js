// Relatedness against expectation: which pairs and samples are not what the sheet says.

import { themeColour } from "./colours.js";
import { announce, banner, card, make, makeCanvas, plotWidth } from "./dom.js";
import { pictureTools } from "./export.js";
import { MISSING, formatNumber, percentOf, plural } from "./format.js";
import { shapeLegend } from "./map.js";
import { drawLabels, drawPoint, drawTicks, spoken, tellOfPoints } from "./points.js";
import { DataTable, figures } from "./table.js";

// Of each relation its shape and colour. Names beside points and hollow shapes tell them apart in grey, too.
const RELATIONS = {
  unrelated: ["circle", "--faint"],
  related: ["triangle", "--accent"],
  siblings: ["square", "--accent"],
  "parent-child": ["diamond", "--accent"],
  identical: ["cross", "--accent"],
};
const SCATTER = { widest: 860, height: 460, left: 62, right: 18, top: 16, bottom: 44 };
const RELATEDNESS_TICKS = [-0.5, 0, 0.25, 0.5, 0.75, 1];
const PAIR = { one: 0, other: 1, sites: 2, concordance: 3, ibs0: 4, ibs2: 5, hets: 6, relatedness: 7, expected: 8 };
const FOUND = 9;
const PAIR_FLAGS = 10;
const NOTE = 11;

const commas = (flags) => flags.replaceAll(",", ", ") || MISSING;

export function showRelate(report) {
  const { pairs, checks } = report;
  const view = make("div", { class: "view" });
  view.append(flagBanner(report, (link) => view.follow(link)));
  if (pairs) view.append(scatterCard(pairs));
  const pairTable = pairs && pairsTable(pairs);
  const checkTable = checks.length > 0 && checksTable(checks);
  if (pairTable) view.append(standingCard(pairs, pairTable));
  if (checkTable) view.append(card("Checks of each sample", "", checkTable.element));
  // Shows the rows of a flag: {table: "pairs" or "samples", flag}.
  view.follow = ({ table, flag }) => {
    (table === "pairs" ? pairTable : checkTable).follow(`flags=${flag}`);
  };
  return view;
}

// What the first screen says. Each flag is a link to its rows; `follow({table, flag})` shows them.
export function flagBanner({ flags }, follow) {
  if (!flags) return "";
  const links = flags.flags.map(([flag, samples, pairs]) => {
    const table = samples ? "samples" : "pairs";
    const counted = samples ? plural(samples, "sample") : plural(pairs, "pair");
    return make(
      "button",
      { type: "button", class: "flag", onclick: () => follow({ table, flag }) },
      make("b", {}, counted),
      `: ${flag}`,
    );
  });
  const isFlagged = links.length > 0;
  const unseen = [
    flags.pairs ? null : "Pairs were not compared.",
    flags.estimated ? null : "Contamination was not estimated.",
    flags.estimated && flags.estimated < flags.samples
      ? `Contamination was estimated of ${flags.estimated} of ${plural(flags.samples, "sample")}.`
      : null,
  ].filter(Boolean);
  const found = isFlagged ? links : [make("b", {}, noneFound(flags))];
  return banner("Flags", isFlagged, ...found, ...unseen.map((text) => make("span", { class: "told" }, text)));
}

function noneFound({ pairs, estimated }) {
  const looked = [...(pairs ? ["swaps", "duplicates"] : []), ...(estimated ? ["contamination"] : [])];
  if (!looked.length) return "Nothing was checked";
  const last = looked.pop();
  return `No ${looked.length ? `${looked.join(", ")} or ` : ""}${last} found`;
}

function scatterCard(pairs) {
  const left =
    pairs.rows.length < pairs.count
      ? ` ${formatNumber(pairs.rows.length)} of ${formatNumber(pairs.count)} pairs are drawn: those that stand out, those` +
        " with a relation, and evenly of the others."
      : "";
  const found = new Set(pairs.rows.map((row) => row[FOUND] ?? "unknown"));
  const canvas = scatterCanvas(pairs);
  return card(
    "Relatedness against expectation",
    "Each point is a pair of samples, its shape the relation that was found. Pairs that are flagged, or found to be" +
      ` other than the sheet says, are large, in another colour, and have names.${left}`,
    make("div", { class: "wide" }, canvas),
    pictureTools(canvas, "relatedness"),
    shapeLegend([
      ...Object.entries(RELATIONS)
        .filter(([name]) => found.has(name))
        .map(([name, [shape, colour]]) => [shape, colour, name, true]),
      ...(pairs.standing ? [["circle", "--warn", "not as the sheet says, or flagged"]] : []),
    ]),
  );
}

function scatterCanvas(pairs) {
  const rows = pairs.rows.filter((row) => row[PAIR.ibs0] !== null && row[PAIR.relatedness] !== null);
  const { widest, height, left, right, top, bottom } = SCATTER;
  const width = plotWidth(widest);
  const most = Math.max(1, ...rows.map((row) => row[PAIR.ibs0]));
  const lowest = Math.min(0, ...rows.map((row) => row[PAIR.relatedness]));
  const ticks = RELATEDNESS_TICKS.filter((tick) => tick >= Math.floor(lowest * 4) / 4);
  const [low, high] = [Math.min(ticks[0], lowest) - 0.04, 1.06];
  const xOf = (ibs0) => left + (ibs0 / most) * (width - left - right - 8) + 4;
  const yOf = (value) => top + ((high - value) / (high - low)) * (height - top - bottom);
  const points = rows.map((row) => [xOf(row[PAIR.ibs0]), yOf(row[PAIR.relatedness])]);
  const first = new Set(pairs.rows.slice(0, pairs.standing));
  const standing = new Set(rows.flatMap((row, index) => (first.has(row) ? [index] : [])));
  let cursor = -1;
  const draw = (context) => {
    scatterAxes(context, ticks, yOf, width, most);
    for (let index = rows.length - 1; index >= 0; index--) {
      const isStanding = standing.has(index);
      const [shape, colour] = RELATIONS[rows[index][FOUND]] ?? ["circle", "--faint"];
      const radius = isStanding ? 6 : 3;
      drawPoint(context, shape, ...points[index], radius, themeColour(isStanding ? "--warn" : colour), !isStanding);
    }
    if (cursor >= 0) drawPoint(context, "circle", ...points[cursor], 11, themeColour("--ink"), true);
    drawLabels(
      context,
      [...standing].map((index) => [pairName(pairs, rows[index]), ...points[index], themeColour("--warn")]),
      [width, height - bottom],
    );
  };
  const label =
    `IBS0 and relatedness of ${plural(rows.length, "pair")}, ${standing.size} of which stand out.` +
    " Arrow keys go from one to the next.";
  const canvas = makeCanvas(width, height, label, draw);
  const describe = (index) => describePair(pairs, rows[index]);
  const choose = (index) => {
    cursor = index;
    canvas.redraw();
    announce(spoken(describe(index)).join(", "));
  };
  tellOfPoints(canvas, { points: () => points, chosen: () => cursor, choose, describe, reach: 8 });
  return canvas;
}

function scatterAxes(context, ticks, yOf, width, most) {
  const { left, right, top, bottom, height } = SCATTER;
  drawTicks(context, ticks, yOf, [left, width - right], 2);
  context.textAlign = "left";
  context.fillText("0", left, height - bottom + 16);
  context.textAlign = "right";
  context.fillText(formatNumber(most), width - right, height - bottom + 16);
  context.textAlign = "center";
  context.fillText("IBS0: sites without a shared allele", (left + width - right) / 2, height - 8);
  context.save();
  context.translate(14, (top + height - bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.fillText("relatedness", 0, 0);
  context.restore();
}

const pairName = ({ samples }, row) => `${samples[row[PAIR.one]]} & ${samples[row[PAIR.other]]}`;

function describePair(pairs, row) {
  return [
    ["samples", pairName(pairs, row)],
    ["by the sheet", row[PAIR.expected] ?? "unknown"],
    ["found", row[FOUND] ?? "unknown"],
    ["relatedness", formatNumber(row[PAIR.relatedness], 3)],
    ["IBS0, IBS2", `${formatNumber(row[PAIR.ibs0])}, ${formatNumber(row[PAIR.ibs2])}`],
    ["sites", formatNumber(row[PAIR.sites])],
    ["flags", commas(row[PAIR_FLAGS])],
    ...(row[NOTE] ? [["note", row[NOTE]]] : []),
  ];
}

function standingCard(pairs, table) {
  const none = make("p", { class: "empty" }, "None: every pair is what the sheet says.");
  const told = "Flagged, or found to be other than the sheet says.";
  return card("Pairs that stand out", told, pairs.standing ? table.element : none);
}

function pairsTable(pairs) {
  const { samples, rows } = pairs;
  const text = (title, place, told) => ({ title, told, value: (index) => rows[index][place] ?? MISSING });
  const number = (title, place, told, digits) => figures(title, (index) => rows[index][place], { told, digits });
  const columns = [
    { title: "Sample 1", value: (index) => samples[rows[index][PAIR.one]] },
    { title: "Sample 2", value: (index) => samples[rows[index][PAIR.other]] },
    text("By the sheet", PAIR.expected, "The relation that the sheet tells"),
    text("Found", FOUND, "The relation that the genotypes tell"),
    flagsColumn((index) => rows[index][PAIR_FLAGS]),
    ...(rows.some((row) => row[NOTE]) ? [text("Note", NOTE, "Why two samples of one individual differ")] : []),
    number("Relatedness", PAIR.relatedness, "1: identical, 0.5: parents, children and siblings, 0: unrelated", 3),
    number("IBS0", PAIR.ibs0, "Sites without a shared allele"),
    number("IBS2", PAIR.ibs2, "Sites with two shared alleles"),
    number("Shared hets", PAIR.hets, "Sites where both are heterozygous"),
    number("Concordance", PAIR.concordance, "Share of equal genotypes", 4),
    number("Sites", PAIR.sites, "Sites where both are known"),
  ];
  return new DataTable(columns, {
    label: "pairs that stand out",
    noun: "pair",
    count: pairs.standing,
    hint: "filter: a name, relatedness>0.9, found=identical …",
  });
}

// A column of flags. The filter `flags=swap?` finds a flag among several.
function flagsColumn(flagsAt) {
  return {
    title: "Flags",
    told: "swap?, duplicate, parent-child, contaminated",
    value: (index) => commas(flagsAt(index)),
    has: (index, flag) => flagsAt(index).split(",").includes(flag),
    cell: (index) => {
      const own = flagsAt(index).split(",").filter(Boolean);
      return own.length ? make("span", {}, ...own.map((flag) => make("span", { class: "raised" }, flag))) : MISSING;
    },
  };
}

function checksTable(checks) {
  const [SITES, DEPTH, HETS, SHARE, LOW, HIGH, FLAGS] = [1, 2, 3, 4, 5, 6, 7];
  const at = (place) => (index) => checks[index][place];
  const percentAt = (place) => (index) => percentOf(checks[index][place]);
  const ends = (index) => [LOW, HIGH].map((place) => formatNumber(percentAt(place)(index), 2)).join(" – ");
  const columns = [
    { title: "Sample", value: at(0) },
    flagsColumn(at(FLAGS)),
    figures("Contamination %", percentAt(SHARE), {
      told: "Share of reads from another individual, in percent",
      digits: 2,
    }),
    {
      ...figures("Interval", at(LOW), { told: "Interval of the contamination, in percent" }),
      text: (index) => (checks[index][LOW] === null ? MISSING : ends(index)),
    },
    figures("Depth", at(DEPTH), { digits: 1 }),
    figures("Heterozygous %", percentAt(HETS), { told: "Heterozygous sites, in percent", digits: 1 }),
    figures("Sites", at(SITES)),
  ];
  return new DataTable(columns, {
    label: "checks of samples",
    noun: "sample",
    count: checks.length,
    hint: "filter: a name, contamination>2, flags=swap? …",
  });
}
