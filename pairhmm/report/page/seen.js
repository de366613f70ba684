// What tiles say of each signature: how much of it was seen, and whether it is called present.

import { make } from "./dom.js";
import { formatNumber } from "./format.js";
import { DataTable } from "./table.js";

// Where the fields of a row stand.
const SEEN = {
  signature: 0,
  sample: 1,
  call: 2,
  reads: 3,
  ambiguous: 4,
  tiles: 5,
  allTiles: 6,
  breadth: 7,
  depth: 8,
  quality: 9,
  identity: 10,
  expected: 11,
  reason: 12,
};

// The rows come in order of abundance.
export function seenCard(report) {
  const { seen } = report.scan;
  const figure = (place, title, told, text) => ({
    title,
    told,
    numeric: true,
    value: (index) => seen[index][place],
    text: (index) => (seen[index][place] === null ? "" : text(seen[index][place], seen[index])),
  });
  const share = (place, title, told) => ({
    title,
    told,
    numeric: true,
    value: (index) => (seen[index][place] === null ? null : 100 * seen[index][place]),
    text: (index) => (seen[index][place] === null ? "" : formatNumber(100 * seen[index][place], 1)),
  });
  const columns = [
    { title: "Signature", value: (index) => seen[index][SEEN.signature] },
    { title: "Sample", value: (index) => report.samples[seen[index][SEEN.sample]] },
    {
      title: "Call",
      told: "present, or weak: with reads but not enough",
      value: (index) => seen[index][SEEN.call],
      cell: (index) => callPill(seen[index][SEEN.call]),
    },
    figure(SEEN.reads, "Reads", "Reads with a match", (reads) => formatNumber(reads)),
    share(SEEN.ambiguous, "Ambiguous %", "Of these, those that match another signature as well"),
    share(SEEN.breadth, "Breadth %", "Letters that matches cover"),
    figure(SEEN.depth, "Depth", "Reads that cover a letter, on average", (depth) => formatNumber(depth, 2)),
    figure(
      SEEN.tiles,
      "Tiles",
      "Tiles that matched",
      (tiles, row) => `${formatNumber(tiles)} of ${formatNumber(row[SEEN.allTiles])}`,
    ),
    figure(SEEN.quality, "Quality", "Mean base quality of the letters that match (Phred)", (mean) =>
      formatNumber(mean, 1),
    ),
    share(SEEN.identity, "Identity %", "Columns of the matches that do not differ"),
    figure(SEEN.expected, "By chance", "Matches that are expected by chance", (count) => count.toPrecision(2)),
    { title: "Lacks", told: "What a call would need", value: (index) => seen[index][SEEN.reason] },
  ];
  const table = new DataTable(columns, {
    label: "signatures seen",
    noun: "row",
    count: seen.length,
    hint: "filter: a name, call=present, breadth>10 …",
  });
  return make(
    "section",
    { class: "card" },
    make("h2", {}, "Signatures seen"),
    make(
      "p",
      { class: "told" },
      "The most abundant first. A row has reads that match a part of the signature. A signature is present if enough of " +
        "these match no other one, cover enough of it, and are more than chance gives; Lacks says what is not enough.",
    ),
    table.element,
  );
}

// So that a weak call stands out.
const callPill = (call) => make("span", { class: call === "present" ? "filter" : "filter raised" }, call);
