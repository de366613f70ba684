// Which bases of a read decide between its two likeliest haplotypes (pairhmm/report/reads.py).

import { diverging } from "./colours.js";
import { make } from "./dom.js";
import { plainTable } from "./export.js";
import { MISSING, formatNumber, plural, shortened } from "./format.js";
import { haplotypeLabel } from "./heatmap.js";
import { readPlace } from "./panel_data.js";

export function decidingBases(report, panel, group) {
  const rows = [...group.explained].sort((a, b) => a[3] - b[3]).map((one) => decidingRow(report, panel, group, one));
  const heads = ["Read", "Likeliest, next", "Ahead", "Bases that decide", "Gaps and the rest"];
  return make(
    "details",
    { class: "deciding" },
    make("summary", {}, `Which bases decide: the ${plural(rows.length, "read")} whose choice is least certain`),
    make(
      "p",
      { class: "told" },
      "log10, for the likeliest haplotype over the next. Bases are numbered from where the read enters the region, with" +
        " their Phred quality. Ahead is what bases and gaps give together.",
    ),
    plainTable("bases that decide", heads, rows),
  );
}

function decidingRow(report, panel, group, [read, best, second, margin, bases]) {
  const nameOf = (index) => haplotypeLabel(panel.haplotypes[index].name);
  const { name } = readPlace(group, read, report.constants);
  const speaking = bases.filter(([, , , evidence]) => evidence !== 0);
  const largest = Math.max(...speaking.map(([, , , evidence]) => Math.abs(evidence)), 1);
  const chips = speaking.map(([base, letter, quality, evidence]) => {
    const chip = make("span", { class: "chip" }, `${base + 1} ${letter} Q${quality} `, make("b", {}, signed(evidence)));
    chip.style.borderColor = diverging(0.5 + evidence / largest / 2);
    return chip;
  });
  const rest = margin - speaking.reduce((sum, [, , , evidence]) => sum + evidence, 0);
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, shortened(name, 40)),
    make("td", {}, `${nameOf(best)}, ${nameOf(second)}`),
    make("td", { class: "number" }, signed(margin)),
    make("td", { class: "bases" }, ...(chips.length ? chips : [MISSING])),
    make(
      "td",
      {},
      `${signed(rest)} `,
      ...gapTexts(bases, [best, second].map(nameOf)).map((text) => make("div", {}, text)),
    ),
  );
}

// What each of the two haplotypes makes of the read's gaps.
function gapTexts(bases, names) {
  return names.flatMap((name, index) => {
    const inserted = bases.reduce((sum, base) => sum + base[4 + index], 0);
    const deleted = bases.reduce((sum, base) => sum + base[6 + index], 0);
    const texts = [];
    if (inserted >= 0.1) texts.push(`${name}: ${formatNumber(inserted, 1)} inserted`);
    if (deleted >= 0.1) texts.push(`${name}: ${formatNumber(deleted, 1)} deleted`);
    return texts;
  });
}

const signed = (value) => `${value < 0 ? "−" : "+"}${formatNumber(Math.abs(value), 2)}`;
