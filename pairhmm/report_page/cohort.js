// The cohort: one row a sample, and how far samples agree.

import { gradient, sequential, themeColour } from "./colours.js";
import { make, makeCanvas } from "./dom.js";
import { pictureTools } from "./export.js";
import { MISSING, formatNumber, shortened } from "./format.js";
import { overviewCards } from "./overview.js";
import { DataTable } from "./table.js";
import { tellOnHover } from "./tooltip.js";

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
  view.append(make("section", { class: "card" }, make("h2", {}, "Samples"), table.element));
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
      const bar = make("span", { class: "bar" }, formatNumber(value, digits));
      bar.style.setProperty("--share", value && largest ? value / largest : 0);
      if (!value || !SITES_OF[key] || !report.sites.samples.includes(rows[index][0])) return bar;
      const follow = () => report.openSites(`state=pass ${SITES_OF[key]}=${rows[index][0]}`);
      return make("button", { type: "button", class: "cell", onclick: follow }, bar);
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
  return make(
    "section",
    { class: "card" },
    make("h2", {}, "Genotype concordance"),
    make("p", { class: "told" }, "Share of equal genotypes of each two samples, of the sites where both are called."),
    make("div", { class: "wide" }, canvas),
    pictureTools(canvas, "genotype concordance"),
    legend(sequential, "50 % or less", "100 %"),
  );
}

export function legend(scale, low, high) {
  const bar = make("span", { class: "gradient" });
  bar.redraw = () => (bar.style.background = gradient(scale));
  bar.redraw();
  return make("div", { class: "legend" }, low, bar, high);
}

// A matrix of coloured cells with names at its left and top. `cell`, in pixels, makes cells square.
export function matrixCanvas({ label, rows, columns, value, colour, describe, onChoose, cell: square }) {
  const side = square ?? Math.max(5, Math.min(34, Math.floor(1100 / Math.max(1, columns.length))));
  const high = square ?? Math.max(9, Math.min(28, Math.floor(700 / Math.max(1, rows.length))));
  const showsNames = side >= 11;
  const left = high < 9 ? 4 : Math.min(180, 20 + 7 * Math.max(4, ...rows.map((name) => Math.min(24, name.length))));
  const top = showsNames ? Math.min(130, 16 + 6 * Math.max(...columns.map((name) => Math.min(20, name.length)))) : 8;
  const gap = side > 4 ? 1 : 0;
  const draw = (context) => {
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = themeColour("--ink");
    context.textBaseline = "middle";
    context.textAlign = "right";
    rows.forEach((name, row) => {
      if (high >= 9) context.fillText(shortened(name, 24), left - 6, top + (row + 0.5) * high, left - 8);
    });
    context.textAlign = "left";
    columns.forEach((name, column) => {
      if (!showsNames) return;
      context.save();
      context.translate(left + (column + 0.5) * side, top - 5);
      context.rotate(-Math.PI / 2);
      context.fillText(shortened(name, 20), 0, 0, top - 6);
      context.restore();
    });
    rows.forEach((_, row) =>
      columns.forEach((__, column) => {
        const cell = value(row, column);
        context.fillStyle = cell === null || cell === undefined ? themeColour("--sunken") : colour(cell);
        context.fillRect(left + column * side, top + row * high, side - gap, high - gap);
      }),
    );
  };
  const canvas = makeCanvas(left + columns.length * side, top + rows.length * high, label, draw);
  canvas.rowPlaces = { top, high };
  const cellAt = (x, y) => {
    const column = Math.floor((x - left) / side);
    const row = Math.floor((y - top) / high);
    return rows[row] !== undefined && columns[column] !== undefined && column >= 0 ? [row, column] : null;
  };
  tellOnHover(canvas, (x, y) => {
    const cell = cellAt(x, y);
    return cell && describe(...cell, value(...cell) ?? null);
  });
  if (onChoose) {
    canvas.classList.add("choosable");
    canvas.addEventListener("click", (event) => {
      const cell = cellAt(event.offsetX, event.offsetY);
      if (cell) onChoose(...cell);
    });
  }
  return canvas;
}
