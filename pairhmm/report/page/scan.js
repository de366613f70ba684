// Signatures that occur in samples.

import { sequential, themeColour } from "./colours.js";
import { depthProfile } from "./depth_profile.js";
import { card, make } from "./dom.js";
import { formatNumber, percentOf, plural, shortened } from "./format.js";
import { legend, matrixCanvas } from "./matrix.js";
import { nameColumn, seenCard } from "./seen.js";
import { DataTable, figures } from "./table.js";
import { hideTooltip, showTooltip, tellOnHover } from "./tooltip.js";

const QUALITY_TOP = 40; // mean Phred at which colours end

const qualityColour = (mean) => (mean === null ? themeColour("--faint") : sequential(mean / QUALITY_TOP));

export function showScan(report) {
  const { scan } = report;
  const holder = make("div", { class: "holder", tabindex: "-1" });
  const rowsOf = scan.signatures.map(() => []);
  for (const [signature, ...row] of scan.rows) rowsOf[signature].push(row);
  const viewOf = (index) =>
    index < 0
      ? make("p", { class: "empty" }, "The filter leaves no signature.")
      : signatureView(report, scan.signatures[index], rowsOf[index]);
  const choose = (index) => holder.replaceChildren(viewOf(index));
  const table = new DataTable(signatureColumns(scan, rowsOf), {
    label: "signatures",
    noun: "signature",
    count: scan.signatures.length,
    height: "none",
    hint: "filter: a name, hits>2, mean>=20 …",
    onSelect: choose,
  });
  const chooseFromMatrix = (index) => table.select(index);
  const first = rowsOf.findIndex((rows) => rows.length);
  if (first >= 0) table.select(first);
  else holder.append(make("p", { class: "empty" }, "No signature occurs in any sample."));
  return make(
    "div",
    { class: "view" },
    scan.seen.length ? seenCard(report) : null,
    first >= 0 ? overviewCard(report, rowsOf, chooseFromMatrix) : null,
    make(
      "div",
      { class: "split" },
      make("section", { class: "card list" }, table.element),
      make("section", { class: "card detail" }, holder),
    ),
  );
}

function signatureColumns(scan, rowsOf) {
  const total = (index, place) => rowsOf[index].reduce((sum, row) => sum + row[place], 0);
  const best = (index) => {
    const means = rowsOf[index].map((row) => row[4]).filter((mean) => mean !== null);
    return means.length ? Math.max(...means) : null;
  };
  const columns = [
    ...(scan.signatures.some(({ title }) => title) ? [nameColumn((index) => scan.signatures[index].title)] : []),
    { title: "Signature", value: (index) => scan.signatures[index].name },
    figures("Length", (index) => scan.signatures[index].length),
    { title: "Samples", told: "Samples in which it occurs", numeric: true, value: (index) => rowsOf[index].length },
    figures("Hits", (index) => total(index, 1)),
    figures("Reverse", (index) => total(index, 2), { told: "Hits on the reverse strand" }),
    figures("Mean", best, { told: "Best mean base quality of its hits (Phred)", digits: 1 }),
  ];
  if (scan.signatures.some(({ informative }) => informative !== undefined)) {
    const known = (index) => scan.signatures[index].informative ?? null;
    columns.splice(
      columns.findIndex(({ title }) => title === "Length") + 1,
      0,
      figures("Not N", known, { told: "Letters other than N" }),
    );
  }
  return columns;
}

const MOST_COLUMNS = 180;

function overviewCard(report, rowsOf, choose) {
  const { scan } = report;
  const hit = rowsOf.map((rows, index) => [index, rows.length]).filter(([, count]) => count);
  const shown = hit
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, MOST_COLUMNS)
    .map(([index]) => index)
    .sort((a, b) => a - b);
  const cells = new Map(scan.rows.map((row) => [`${row[0]} ${row[1]}`, row]));
  const cell = (row, column) => cells.get(`${shown[column]} ${scan.samples[row]}`);
  const canvas = matrixCanvas({
    label: "Samples and the signatures that occur in them",
    rows: scan.samples.map((sample) => report.samples[sample]),
    columns: shown.map((index) => scan.signatures[index].name),
    value: (row, column) => cell(row, column)?.[5] ?? (cell(row, column) ? QUALITY_TOP / 2 : null),
    colour: qualityColour,
    describe: (row, column) => {
      const found = cell(row, column);
      const rows = [
        ["sample", report.samples[scan.samples[row]]],
        ["signature", scan.signatures[shown[column]].name],
      ];
      if (scan.signatures[shown[column]].title) rows.push(["name", scan.signatures[shown[column]].title]);
      rows.push(["hits", found ? formatNumber(found[2]) : "none"]);
      if (found && found[5] !== null) rows.push(["best mean quality", formatNumber(found[5], 1)]);
      return rows;
    },
    onChoose: (_, column) => choose(shown[column]),
  });
  const left = shown.length < hit.length ? ` The ${shown.length} in most samples, of ${hit.length}.` : "";
  return card(
    "Samples and signatures",
    `Best mean base quality of each signature's hits.${left}`,
    make("div", { class: "wide" }, canvas),
    legend(sequential, "Phred 0", `${QUALITY_TOP} and more`),
  );
}

function signatureView(report, signature, rows) {
  const article = make(
    "article",
    { class: "panel" },
    make(
      "header",
      {},
      make("h2", {}, signature.name),
      signature.title ? make("span", {}, signature.title) : null,
      make("span", { class: "chip" }, `${formatNumber(signature.length)} bases`),
    ),
  );
  article.append(signatureTrack(signature));
  if (!rows.length) article.append(make("p", { class: "empty" }, "It occurs in no sample."));
  for (const row of rows) article.append(...sampleHits(report, signature, row));
  return article;
}

// The signature from end to end: its letters, or how many of them are other than N; hits are drawn below on its scale.
function signatureTrack(signature) {
  const { track, length } = signature;
  const canvas = make("canvas", { class: "track", role: "img", "aria-label": `${signature.name}, ${length} bases` });
  canvas.width = 960;
  canvas.height = 30;
  canvas.redraw = () => drawTrack(canvas, track);
  canvas.redraw();
  const hasN = typeof track === "string" ? track.includes("N") : track?.some((share) => share < 100);
  const told = track ? (hasN ? "faint where it has N" : "") : "--signatures shows its Ns";
  return make(
    "div",
    { class: "hits" },
    make("span", { class: "label" }, "signature"),
    canvas,
    make("span", { class: "figures" }, told),
    make("span"),
    make("span", { class: "ends" }, make("span", {}, "1"), make("span", {}, formatNumber(length))),
    make("span"),
  );
}

function drawTrack(canvas, track) {
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, canvas.width, canvas.height);
  if (!track) {
    context.fillStyle = themeColour("--sunken");
    context.fillRect(0, 0, canvas.width, canvas.height);
    return;
  }
  const width = canvas.width / track.length;
  for (let index = 0; index < track.length; index++) {
    const share = typeof track === "string" ? (track[index] === "N" ? 0 : 1) : track[index] / 100;
    context.fillStyle = sequential(share * 0.75);
    context.fillRect(index * width, 0, width + 1, canvas.height); // paper would show seams between neighbours
  }
}

function sampleHits(report, signature, [sample, hits, reverse, mean, , qualities, shown]) {
  const left = shown.length < hits ? `, the ${shown.length} with the largest sums shown` : "";
  const quality = mean === null ? "" : `, mean quality ${formatNumber(mean, 1)}`;
  const told = `${plural(hits, "hit")}${left}; ${formatNumber(reverse)} on the reverse strand${quality}`;
  const grid = make("div", { class: "hits" });
  const seen = report.scan.seen.find((row) => row.signature === signature.name && row.sample === sample);
  if (seen?.depths.length) grid.append(...depthLine(seen));
  for (const hit of shown) grid.append(...hitLine(signature, hit));
  return [
    make("h3", {}, report.samples[sample], " ", make("span", { class: "told" }, told)),
    hits > 1 && mean !== null ? qualityHistogram(report, qualities) : null,
    grid,
  ].filter(Boolean);
}

function depthLine(seen) {
  const told = `depth ${formatNumber(seen.depth, 1)}, ${formatNumber(percentOf(seen.breadth), 1)} % covered`;
  return [
    make("span", { class: "label" }, "depth"),
    depthProfile(seen.signature, seen, "track profile", [960, 70]),
    make("span", { class: "figures" }, told),
  ];
}

function hitLine(signature, hit) {
  const [record, number, start, end, strand, total, mean, matches, informative, mismatches, place] = hit;
  const length = end - start;
  const shape = make("span", {
    class: `hit ${strand === "-" ? "reverse" : "forward"}`,
    tabindex: "0",
    role: "img",
    "aria-label": `${record}, ${start + 1} to ${end}, strand ${strand}, mean quality ${mean ?? "unknown"}`,
  });
  shape.redraw = () => shape.style.setProperty("--colour", qualityColour(mean));
  shape.redraw();
  if (place !== null) {
    shape.style.marginLeft = `${(100 * place) / signature.length}%`;
    shape.style.width = `${(100 * length) / signature.length}%`;
  }
  const rows = [
    ["record", `${record} (number ${formatNumber(number)} of the file)`],
    ["place in it", `${formatNumber(start + 1)}-${formatNumber(end)}, strand ${strand}`],
    ["sum of qualities", formatNumber(total)],
    ["mean quality", formatNumber(mean, 2)],
    ["columns without N", `${formatNumber(informative)} of ${formatNumber(length)}`],
    ["mismatches", formatNumber(mismatches)],
    ["matches in the sample", formatNumber(matches)],
  ];
  if (place !== null)
    rows.push(["place in the signature", `${formatNumber(place + 1)}-${formatNumber(place + length)}`]);
  tellOnHover(shape, () => rows);
  shape.addEventListener("focus", () => {
    const box = shape.getBoundingClientRect();
    showTooltip(box.left + box.width / 2, box.bottom, rows);
  });
  shape.addEventListener("blur", hideTooltip);
  const told = [
    place === null ? null : `at ${formatNumber(place + 1)}`,
    mean === null ? null : `Q ${formatNumber(mean, 1)}`,
    informative < length ? `${formatNumber((100 * informative) / length)} % known` : null,
    mismatches ? plural(mismatches, "mismatch", "mismatches") : null,
  ].filter(Boolean);
  return [
    make("span", { class: "label", title: record }, shortened(record, 26)),
    shape,
    make("span", { class: "figures" }, told.join(" · ")),
  ];
}

function qualityHistogram(report, counts) {
  const most = Math.max(...counts);
  const wide = report.constants.qualityBin;
  const bars = counts.map((count, index) => {
    const column = make("span", {
      title: `mean quality ${index * wide} to ${(index + 1) * wide}: ${plural(count, "hit")}`,
    });
    column.style.height = `${Math.max(count ? 2 : 0, (28 * count) / most)}px`;
    return column;
  });
  const last = counts.length * wide;
  const histogram = make("div", { class: "histogram" }, make("i", {}, "Q 0"), ...bars, make("i", {}, `${last}`));
  histogram.redraw = () =>
    bars.forEach((column, index) => {
      column.style.background = sequential(((index + 0.5) * wide) / QUALITY_TOP);
    });
  histogram.redraw();
  return histogram;
}
