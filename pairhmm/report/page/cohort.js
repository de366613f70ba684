// The cohort: one row a sample, and how far samples agree.

import { sequential } from "./colours.js";
import { card, make } from "./dom.js";
import { pictureTools } from "./export.js";
import { MISSING, formatNumber } from "./format.js";
import { legend, matrixCanvas } from "./matrix.js";
import { overviewCards } from "./overview.js";
import { DataTable, bar } from "./table.js";
import { targetsCard } from "./targets.js";

export function showCohort(report) {
  const { columns, rows } = report.cohort;
  const view = make("div", { class: "view" });
  view.append(...overviewCards(report));
  const tableColumns = [
    { title: "Sample", told: "Name", value: (index) => rows[index][0] },
    ...columns.map(([key, title, told, digits], number) =>
      digits === null
        ? { title, told, value: (index) => rows[index][number + 1] ?? MISSING }
        : numberColumn(report, key, { title, told, digits, place: number + 1 }),
    ),
  ];
  const table = new DataTable(tableColumns, {
    label: "samples",
    noun: "sample",
    count: rows.length,
    hint: "filter: a name, depth<20, gq>=60 …",
  });
  view.append(card("Samples", "", table.element));
  if (report.targets) view.append(targetsCard(report));
  if (report.concordance) view.append(concordanceCard(report.concordance));
  return view;
}

// The sites behind a figure of a sample, as a filter of the list of sites.
const SITES_OF = {
  called: "called",
  het: "het",
  hom_alt: "hom",
  missing: "missing",
  thin: "lowdp",
  snvs: "type=SNV carried",
  indels: "indel=yes carried",
};

// A column of figures, each with a bar that shows its share of the largest. Numbers lead to their sites.
function numberColumn(report, key, { title, told, digits, place }) {
  const { rows } = report.cohort;
  const largest = Math.max(0, ...rows.map((row) => row[place] ?? 0));
  return {
    title,
    told,
    numeric: true,
    value: (index) => rows[index][place],
    cell: (index) => {
      const value = rows[index][place];
      const figure = bar(formatNumber(value, digits), value && largest ? value / largest : 0);
      if (!value || !SITES_OF[key] || !report.sites.samples.includes(rows[index][0])) return figure;
      const follow = () => report.openSites(`state=pass ${SITES_OF[key]}=${rows[index][0]}`);
      return make("button", { type: "button", class: "cell", onclick: follow }, figure);
    },
  };
}

function concordanceCard({ samples, shares }) {
  const canvas = matrixCanvas({
    label: "Genotype concordance of each two samples",
    rows: samples,
    columns: samples,
    value: (row, column) => shares[row][column],
    colour: (value) => sequential((value - 0.5) * 2),
    describe: (row, column, value) => [
      ["samples", `${samples[row]} and ${samples[column]}`],
      ["equal genotypes", value === null ? "never both called" : `${formatNumber(100 * value, 2)} %`],
    ],
  });
  return card(
    "Genotype concordance",
    "Share of equal genotypes of each two samples, of the sites where both are called.",
    make("div", { class: "wide" }, canvas),
    pictureTools(canvas, "genotype concordance"),
    legend(sequential, "50 % or less", "100 %"),
  );
}
