// The first screen: what was called, whether it can be relied on, and what it was made from. Numbers lead to their sites.

import { banner, make } from "./dom.js";
import { formatNumber, formatSeconds, plural } from "./format.js";
import { USE } from "./provenance.js";
import { flagBanner } from "./relate.js";
import { targetTiles } from "./targets.js";

export function overviewCards(report) {
  const banners = [flagBanner(report, report.followFlag), sheetBanner(report)].filter(Boolean);
  return [
    banners.length ? make("div", { class: "banners" }, ...banners) : null,
    answerTiles(report),
    explanation(report),
    factsCard(report),
  ].filter(Boolean);
}

// A number, and what it counts; a button where it leads to sites.
export function tile(value, what, { follow, raised } = {}) {
  const content = [make("b", {}, value), make("span", {}, what)];
  const kind = raised ? "tile raised" : "tile";
  if (!follow) return make("div", { class: kind }, ...content);
  return make("button", { type: "button", class: kind, onclick: follow }, ...content);
}

function answerTiles(report) {
  const panels = report.sites.panels.filter((own) => own.length).length;
  const tiles = [tile(formatNumber(report.samples.length), report.samples.length === 1 ? "sample" : "samples")];
  if (report.overview.calls) tiles.push(...callTiles(report, report.overview.calls));
  else if (report.seenSites) tiles.push(sitesTile(report, report.seenSites, "sites", ""));
  if (report.inputs.some(([what]) => what === "likelihoods")) {
    tiles.push(sitesTile(report, panels, "sites with read evidence", "panels>0"));
  }
  tiles.push(...targetTiles(report).map((parts) => tile(...parts)));
  if (report.scan) {
    const found = new Set(report.scan.rows.map((row) => row[0])).size;
    const follow = () => report.openTab("scan");
    tiles.push(tile(formatNumber(report.scan.hits), "scan hits", { follow }));
    const what = found === 1 ? "signature that occurs" : "signatures that occur";
    tiles.push(tile(formatNumber(found), what, { follow }));
  }
  if (report.timings.length) {
    const seconds = report.timings.reduce((sum, row) => sum + row[1], 0);
    const what = report.timings.length === 1 ? "of one job" : `of ${formatNumber(report.timings.length)} jobs`;
    tiles.push(tile(formatSeconds(seconds), what, { follow: () => report.openTab("run") }));
  }
  return make("div", { class: "tiles" }, ...tiles);
}

function callTiles(report, calls) {
  const genotypes = calls.called + calls.missing;
  const of = `of ${formatNumber(genotypes)}`;
  const { minDepth } = calls;
  return [
    sitesTile(report, calls.records, "sites", ""),
    sitesTile(report, calls.passed, "pass their filters", "state=pass"),
    ...calls.failed.map(([filter, count]) => sitesTile(report, count, filter, `filter=${filter}`, true)),
    sitesTile(report, calls.missing, `without a call, ${of} genotypes`, "state=pass missing>0", true),
    sitesTile(report, calls.thin, `with DP < ${formatNumber(minDepth)}, ${of} genotypes`, "state=pass lowdp>0", true),
  ];
}

// `isFault`: a number other than 0 should stand out.
function sitesTile(report, count, what, filter, isFault = false) {
  const follow = count && report.sites.pos.length ? () => report.openSites(filter) : null;
  return tile(formatNumber(count), what, { follow, raised: isFault && count > 0 });
}

// Why the numbers of the tiles and of the table of samples differ.
function explanation(report) {
  const { calls } = report.overview;
  if (!calls) return null;
  const { records, passed, failed, called, missing, missingSites, thin, thinSites, minDepth } = calls;
  const samples = report.sites.samples.length;
  const filters = failed.map(([filter, count]) => `${formatNumber(count)} ${filter}`).join(", ");
  const absent = passed * samples - called - missing;
  const parts = [
    records === passed
      ? `All ${plural(records, "site")} pass their filters.`
      : `${plural(records, "site")} = ${formatNumber(passed)} that pass their filters + ${formatNumber(records - passed)}` +
        ` that ${records - passed === 1 ? "does" : "do"} not (${filters}). Figures of samples leave the latter out.`,
    `${plural(passed, "site")} × ${plural(samples, "sample")}${absent ? ` - ${formatNumber(absent)} of ploidy 0` : ""}` +
      ` = ${formatNumber(called + missing)} genotypes:` +
      ` ${formatNumber(called)} called, ${formatNumber(missing)} without a call` +
      (missing ? ` (at ${plural(missingSites, "site")}).` : "."),
  ];
  if (thin) parts.push(`${plural(thin, "genotype")} at ${plural(thinSites, "site")} have a DP below ${minDepth}.`);
  if (report.sites.pos.length < report.seenSites) {
    parts.push(`The list of sites, to which the numbers lead, holds ${formatNumber(report.sites.pos.length)} of them.`);
  }
  return make("p", { class: "told" }, parts.join(" "));
}

// Samples of the sheet without results, and results of samples that it does not have.
function sheetBanner({ overview: { sheet } }) {
  if (!sheet) return null;
  const { samples, missing, unknown } = sheet;
  const isWrong = missing.length + unknown.length > 0;
  const texts = [
    missing.length ? `No results of ${named(missing)}, which the sheet has.` : null,
    unknown.length ? `The sheet does not have ${named(unknown)}.` : null,
  ].filter(Boolean);
  if (!isWrong)
    texts.push(samples === 1 ? "The sample of the sheet is here" : `All ${samples} samples of the sheet are here`);
  return banner("Samples of the sheet", isWrong, ...texts.map((text) => make("b", {}, text)));
}

function named(samples) {
  const shown = samples.slice(0, 10).join(", ");
  return samples.length > 10 ? `${shown} and ${formatNumber(samples.length - 10)} others` : shown;
}

function factsCard(report) {
  const { reference, dates, callers, backends } = report.overview;
  const models = [...new Set(report.models.map(([, model]) => model))];
  const facts = [
    ["Reference", reference],
    ["Called by", [...callers, ...backends.map((backend) => `on ${backend}`)].join(" ")],
    ["Called on", dates.join(", ")],
    ["Model", models.join("; ")],
    ["Swaps and contamination", report.flags ? null : "not looked for"],
    ["Report by", `pairhmm ${report.version}, ${USE}`],
  ].filter(([, value]) => value);
  return make(
    "dl",
    { class: "card facts" },
    ...facts.map(([what, value]) => make("div", {}, make("dt", {}, what), make("dd", {}, value))),
  );
}
