// Haplotypes laid under the reference: dots where they agree, letters and dashes where they differ.

import { alleleColour, baseColour } from "./colours.js";
import { make } from "./dom.js";
import { formatNumber } from "./format.js";
import { haplotypeLabel } from "./heatmap.js";

const AROUND = 22; // columns on either side of a difference

// Columns: {position (0-based), reference, cells}; where bases are inserted the reference is "-". Cells are a letter of
// each haplotype. `circle`: bases of the contig where the reference goes over the origin of a circle.
export function alignColumns({ origin, reference, haplotypes, circle = Infinity }) {
  const edits = haplotypes.map(({ differences }) => applyDifferences(differences, circle));
  const columns = [];
  for (let offset = 0; offset < reference.length; offset++) {
    const position = (origin + offset) % circle;
    columns.push({
      position,
      reference: reference[offset],
      cells: edits.map(({ bases }) => bases.get(position) ?? "."),
    });
    const inserted = edits.map(({ insertions }) => insertions.get(position) ?? "");
    const longest = Math.max(...inserted.map((bases) => bases.length));
    for (let index = 0; index < longest; index++) {
      columns.push({ position, reference: "-", cells: inserted.map((bases) => bases[index] ?? "-") });
    }
  }
  return columns;
}

// Each difference replaces `before` at its position by `after`. Surplus letters are placed behind the last common one.
function applyDifferences(differences, circle) {
  const bases = new Map();
  const insertions = new Map();
  for (const [position, before, after] of differences) {
    for (let index = 0; index < before.length; index++) {
      const letter = after[index] ?? "-";
      if (letter !== before[index]) bases.set((position + index) % circle, letter);
    }
    if (after.length > before.length)
      insertions.set((position + before.length - 1) % circle, after.slice(before.length));
  }
  return { bases, insertions };
}

const isDifferent = ({ reference, cells }) => reference === "-" || cells.some((cell) => cell !== ".");

// Runs of columns near a difference or the site; all of them where that is little.
export function columnWindows(columns, sitePosition) {
  const kept = columns.map(() => false);
  columns.forEach((column, index) => {
    if (!isDifferent(column) && column.position !== sitePosition) return;
    for (let near = Math.max(0, index - AROUND); near <= Math.min(columns.length - 1, index + AROUND); near++) {
      kept[near] = true;
    }
  });
  const windows = [];
  kept.forEach((isKept, index) => {
    if (!isKept) return;
    if (index && kept[index - 1]) windows.at(-1).push(columns[index]);
    else windows.push([columns[index]]);
  });
  return windows;
}

// owned: the haplotypes that a sample has; they come first.
export function alignmentView(panel, site, kindOf, columnsInOrder, owned) {
  const windows = columnWindows(alignColumns(panel), site.pos - 1);
  const isOwned = (haplotype) => owned.has(haplotype);
  const order = [...columnsInOrder.filter(isOwned), ...columnsInOrder.filter((one) => !isOwned(one))];
  const blocks = windows.map((columns) => alignmentBlock(panel, columns, site, order, { kindOf, owned }));
  return make(
    "div",
    { class: "alignment", tabindex: "0", role: "region", "aria-label": "Haplotypes aligned" },
    ...blocks,
  );
}

function alignmentBlock(panel, columns, site, order, { kindOf, owned }) {
  const isSite = columns.map(({ position, reference }) => position === site.pos - 1 && reference !== "-");
  const rows = [
    ["", [rulerText(columns)], "ruler"],
    ["reference", columns.map(({ reference }, index) => letterSpan(reference, isSite[index] ? "at" : "same")), ""],
    ...order.map((haplotype) => [
      haplotypeLabel(panel.haplotypes[haplotype].name) + (owned.has(haplotype) ? " ●" : ""),
      columns.map(({ cells }) => letterSpan(cells[haplotype], cells[haplotype] === "." ? "same" : "other")),
      "",
      kindOf[haplotype],
    ]),
  ];
  return make(
    "div",
    { class: "block" },
    ...rows.map(([name, letters, kind, allele]) => {
      const label = make("span", { class: "label" }, name);
      if (allele !== undefined) label.style.borderColor = alleleColour(allele);
      return make("div", { class: `line ${kind}` }, label, make("code", {}, ...joinRuns(letters)));
    }),
  );
}

const letterSpan = (letter, kind) => {
  if (letter === "-") return { letter, kind: "gap" };
  return kind === "other" ? { letter, kind: "base", colour: baseColour(letter) } : { letter, kind };
};

// Joins neighbouring letters that look the same into one element.
function joinRuns(letters) {
  const runs = [];
  for (const one of letters) {
    if (typeof one === "string") runs.push({ letter: one, kind: "" });
    else if (runs.length && isAlike(runs.at(-1), one)) runs.at(-1).letter += one.letter;
    else runs.push({ ...one });
  }
  return runs.map(({ letter, kind, colour }) => {
    const span = make("span", { class: kind || null }, letter);
    if (colour) span.style.background = colour;
    return span;
  });
}

const isAlike = (one, other) => one.kind === other.kind && one.colour === other.colour;

// A position, 1-based, at the block's first column and at every twentieth that has room.
function rulerText(columns) {
  let text = "";
  columns.forEach(({ position, reference }, index) => {
    const isFirst = index === 0;
    if (reference === "-" || !(isFirst || (position + 1) % 20 === 0)) return;
    const mark = `${formatNumber(position + 1)}`;
    if (isFirst || text.length + 2 <= index) text = text.padEnd(index) + `╷${mark}`;
  });
  return text.slice(0, columns.length + 12);
}
