// How the run was made: model, files, versions, precision, timings.

import { make } from "./dom.js";
import { exported } from "./export.js";
import { formatNumber, formatSeconds, plural } from "./format.js";
import { DataTable } from "./table.js";

const NOT_SAMPLED = "not sampled";

export function showRun(report) {
  const { timings, inputs, models, provenance } = report;
  return make(
    "div",
    { class: "view" },
    timings.length ? timingsCard(timings) : null,
    models.length ? listCard("Model", ["File", "Model and parameters"], models) : null,
    listCard("Files", ["What", "File"], inputs),
    provenance.length
      ? listCard(
          "What made the calls",
          ["File", "Header line", "Value"],
          provenance,
          "Of the whole run: where its shards differ, {first,...,last} stands for their words.",
        )
      : null,
    precisionCard(report),
    make("p", { class: "told" }, `Made by pairhmm ${report.version}.`),
  );
}

function listCard(title, heads, rows, told = "") {
  const table = make(
    "table",
    { class: "plain" },
    make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((text) => make("td", {}, text))))),
  );
  return make(
    "section",
    { class: "card" },
    make("h2", {}, title),
    told ? make("p", { class: "told" }, told) : null,
    make("div", { class: "wide" }, exported(table, title)),
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
        text: (index) => (timings[index][2] === null ? NOT_SAMPLED : formatSeconds(timings[index][2])),
      },
      {
        title: "Memory",
        told: "The most memory held (resident), MB",
        numeric: true,
        value: (index) => timings[index][3],
        text: (index) => (timings[index][3] === null ? NOT_SAMPLED : `${formatNumber(timings[index][3])} MB`),
      },
    ],
    { label: "jobs", noun: "job", count: timings.length, hint: "filter: a name, time>60 …" },
  );
  const unseen = timings.filter((row) => row[2] === null && row[3] === null).length;
  const told =
    "The jobs whose benchmark files were given. Snakemake samples processor time and" +
    ` memory while a job runs. ${unseen ? `Of ${plural(unseen, "job")} of under a second it has seen too little.` : ""}`;
  return make(
    "section",
    { class: "card" },
    make("h2", {}, "Timings"),
    make("p", { class: "told" }, told),
    table.element,
  );
}
