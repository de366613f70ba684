// How the run was made: model, files, versions, precision, timings.

import { make } from "./dom.js";
import { MISSING, formatNumber, formatSeconds } from "./format.js";
import { DataTable } from "./table.js";

export function showRun(report) {
  const { timings, inputs, models, provenance } = report;
  return make(
    "div",
    { class: "view" },
    timings.length ? timingsCard(timings) : null,
    models.length ? listCard("Model", ["File", "Model and parameters"], models) : null,
    listCard("Files", ["What", "File"], inputs),
    provenance.length ? listCard("Provenance", ["File", "Header line", "Value"], provenance) : null,
    precisionCard(report),
    make("p", { class: "told" }, `Made by pairhmm ${report.version}.`),
  );
}

function listCard(title, heads, rows) {
  return make(
    "section",
    { class: "card" },
    make("h2", {}, title),
    make(
      "div",
      { class: "wide" },
      make(
        "table",
        { class: "plain" },
        make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
        make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((text) => make("td", {}, text))))),
      ),
    ),
  );
}

function precisionCard(report) {
  const total = report.precisions.reduce((sum, count) => sum + count, 0);
  if (!total) return null;
  const rows = report.precisions.map((count, code) => [
    report.constants.precisions[code],
    formatNumber(count),
    `${formatNumber((100 * count) / total, 2)} %`,
  ]);
  return listCard("Precision of the scores", ["Arithmetic", "Reads", "Share"], rows);
}

function timingsCard(timings) {
  const longest = Math.max(...timings.map((row) => row[1]));
  const table = new DataTable(
    [
      { title: "Job", value: (index) => timings[index][0] },
      {
        title: "Time",
        told: "Wall time, seconds",
        numeric: true,
        value: (index) => timings[index][1],
        cell: (index) => {
          const bar = make("span", { class: "bar" }, formatSeconds(timings[index][1]));
          bar.style.setProperty("--share", longest ? timings[index][1] / longest : 0);
          return bar;
        },
      },
      {
        title: "CPU",
        told: "Processor time, seconds",
        numeric: true,
        value: (index) => timings[index][2],
        text: (index) => (timings[index][2] === null ? MISSING : formatSeconds(timings[index][2])),
      },
      {
        title: "Memory",
        told: "The most memory held (resident), MB",
        numeric: true,
        value: (index) => timings[index][3],
        text: (index) => (timings[index][3] === null ? MISSING : `${formatNumber(timings[index][3])} MB`),
      },
    ],
    { label: "jobs", noun: "job", count: timings.length, hint: "filter: a name, time>60 …" },
  );
  return make("section", { class: "card" }, make("h2", {}, "Timings"), table.element);
}
