// How the run was made: model, files, versions, precision, timings.

import { card, make } from "./dom.js";
import { formatNumber, formatSeconds, plural } from "./format.js";
import { USE, callsCard, filesCard, listCard } from "./provenance.js";
import { DataTable, bar, figures } from "./table.js";

const NOT_SAMPLED = "not sampled";

export function showRun(report) {
  const { timings, inputs, models, provenance } = report;
  return make(
    "div",
    { class: "view" },
    timings.length ? timingsCard(timings) : null,
    models.length ? listCard("Model", ["File", "Model and parameters"], models) : null,
    filesCard(inputs),
    callsCard(provenance),
    precisionCard(report),
    make("p", { class: "told" }, `Made by pairhmm ${report.version}, ${USE}.`),
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
  const sampled = (title, place, told, text) => ({
    ...figures(title, (index) => timings[index][place], { told }),
    text: (index) => (timings[index][place] === null ? NOT_SAMPLED : text(timings[index][place])),
  });
  const columns = [
    { title: "Job", value: (index) => timings[index][0] },
    {
      ...figures("Time", (index) => timings[index][1], { told: "Wall time, seconds" }),
      cell: (index) => bar(formatSeconds(timings[index][1]), longest ? timings[index][1] / longest : 0),
    },
    sampled("CPU", 2, "Processor time, seconds", formatSeconds),
    sampled("Memory", 3, "The most memory held (resident), MB", (megabytes) => `${formatNumber(megabytes)} MB`),
  ];
  const hint = "filter: a name, time>60 …";
  const table = new DataTable(columns, { label: "jobs", noun: "job", count: timings.length, hint });
  const unseen = timings.filter((row) => row[2] === null && row[3] === null).length;
  const told =
    "The jobs whose benchmark files were given. Snakemake samples processor time and" +
    ` memory while a job runs. ${unseen ? `Of ${plural(unseen, "job")} of under a second it has seen too little.` : ""}`;
  return card("Timings", told, table.element);
}
