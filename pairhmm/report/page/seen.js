// What tiles say of each signature: how much of it was seen, and whether it is called present.

import { depthProfile } from "./depth_profile.js";
import { card, make } from "./dom.js";
import { formatNumber, percentOf } from "./format.js";
import { DataTable, figures } from "./table.js";

// The rows come in order of abundance.
export function seenCard(report) {
  const { seen, signatures } = report.scan;
  const titles = new Map(signatures.map(({ name, title }) => [name, title]));
  const titleOf = (index) => titles.get(seen[index].signature) ?? "";
  // What is unknown is left empty.
  const figure = (key, title, told, text) => ({
    ...figures(title, (index) => seen[index][key], { told }),
    text: (index) => (seen[index][key] === null ? "" : text(seen[index][key], seen[index])),
  });
  const share = (key, title, told) => ({
    ...figure(key, title, told, (value) => formatNumber(percentOf(value), 1)),
    value: (index) => percentOf(seen[index][key]),
  });
  const columns = [
    ...(seen.some((_, index) => titleOf(index)) ? [nameColumn(titleOf)] : []),
    { title: "Signature", value: (index) => seen[index].signature },
    { title: "Sample", value: (index) => report.samples[seen[index].sample] },
    {
      title: "Call",
      told: "present, or weak: with reads but not enough",
      value: (index) => seen[index].call,
      cell: (index) => callPill(seen[index].call),
    },
    figure("reads", "Reads", "Reads with a match", (reads) => formatNumber(reads)),
    share("ambiguous", "Ambiguous %", "Of these, those that match another signature as well"),
    ...(seen.some(({ depths }) => depths.length) ? [profileColumn(seen)] : []),
    share("breadth", "Breadth %", "Letters that matches cover"),
    figure("depth", "Depth", "Reads that cover a letter, on average", (depth) => formatNumber(depth, 2)),
    figure(
      "tiles",
      "Tiles",
      "Tiles that matched",
      (tiles, row) => `${formatNumber(tiles)} of ${formatNumber(row.all_tiles)}`,
    ),
    figure("quality", "Quality", "Mean base quality of the letters that match (Phred)", (mean) =>
      formatNumber(mean, 1),
    ),
    share("identity", "Identity %", "Columns of the matches that do not differ"),
    figure("expected", "By chance", "Matches that are expected by chance", (count) => count.toPrecision(2)),
    { title: "Lacks", told: "What a call would need", value: (index) => seen[index].reason },
  ];
  const table = new DataTable(columns, {
    label: "signatures seen",
    noun: "row",
    count: seen.length,
    hint: "filter: a name, call=present, breadth>10 …",
  });
  const told =
    "The most abundant first. A row has reads that match a part of the signature. A signature is present if enough of " +
    "these match no other one, cover enough of it, and are more than chance gives; Lacks says what is not enough.";
  return card("Signatures seen", told, table.element);
}

// What the FASTA calls a signature, such as the name of a virus.
export const nameColumn = (titleOf) => ({
  title: "Name",
  told: "What the FASTA's header says behind the name",
  value: titleOf,
  cell: (index) => make("span", { class: "clipped", title: titleOf(index) }, titleOf(index)),
});

const profileColumn = (seen) => ({
  title: "Coverage",
  told: "Depth along the signature, from end to end; sorts by breadth",
  value: (index) => seen[index].breadth,
  saved: (index) => seen[index].depths.join(" "),
  cell: (index) =>
    seen[index].depths.length ? depthProfile(seen[index].signature, seen[index], "profile", [320, 44]) : "",
});

// So that a weak call stands out.
const callPill = (call) => make("span", { class: call === "present" ? "filter" : "filter raised" }, call);
