// What a report was made from and by, on its last screen and at the end of each print.

import { card, make } from "./dom.js";
import { plainTable } from "./export.js";
import { MISSING, formatNumber } from "./format.js";

export const USE = "for research use";

// The foot of each printed page, beside its number: title, version, the day of printing.
export function runningLine({ title, version }) {
  const now = new Date();
  const day = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, "0"));
  return [title, `pairhmm ${version}`, `printed on ${day.join("-")}`, USE].join(" · ");
}

export function listCard(title, heads, rows, told = "") {
  const lines = rows.map((row) => make("tr", {}, ...row.map((text) => make("td", {}, text))));
  return card(title, told, plainTable(title, heads, lines));
}

// inputs: what a file is, its path, its size (null: a pipe), SHA-256, and what that is of (empty: the file).
export function filesCard(inputs) {
  const rows = inputs.map(([what, path, size, sha256, of]) => [
    what,
    path,
    formatNumber(size),
    make("span", { class: "checksum" }, sha256 || MISSING, of ? ` of ${of}` : ""),
  ]);
  return listCard("Files", ["What", "File", "Bytes", "SHA-256"], rows);
}

export function callsCard(provenance) {
  const told = "Of the whole run: where its shards differ, {first,...,last} stands for their words.";
  return provenance.length ? listCard("What made the calls", ["File", "Header line", "Value"], provenance, told) : null;
}

// The end of a print. `cards` are of its files and of the run.
export function colophon(about) {
  return make("section", { class: "colophon", "aria-label": "What this was made from" }, ...about.cards);
}
