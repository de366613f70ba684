// Everything about one site.

import { alignmentView } from "./alignment.js";
import { alleleColour, diverging } from "./colours.js";
import { decidingBases } from "./deciding.js";
import { make, mark } from "./dom.js";
import { formatNumber, plural, shortened } from "./format.js";
import { allelesOf, evidenceTable, filterPill } from "./genotypes.js";
import { pictureTools, plainTable } from "./export.js";
import { Heatmap, SPAN, haplotypeLabel } from "./heatmap.js";
import { legend } from "./matrix.js";
import { ownHaplotypes } from "./panel_data.js";
import { Pileup, pileupView } from "./pileup.js";

const AROUND_LINK = 50; // bases on either side
const OPEN_SAMPLES = 3;
const MOST_HAPLOTYPES = 12; // that a sample's table shows at first

export async function showSite(report, site, holder, isCurrent) {
  // Until the site's reads are there, the site before stays on the screen, but not on paper.
  holder.classList.add("stale");
  const article = await siteArticle(report, site).catch((error) =>
    make("p", { class: "empty" }, `${siteName(site)} can't be shown: ${error.message}`),
  );
  if (!isCurrent()) return;
  holder.replaceChildren(article);
  holder.classList.remove("stale");
  holder.scrollTop = 0;
}

export async function siteArticle(report, site) {
  const calls = report.sites.samples.map((sample, number) => callOf(report, number, site.index, sample));
  const article = make("article", { class: "panel", "aria-label": siteName(site) }, siteHead(report, site));
  if (calls.length) {
    article.append(
      make("h3", {}, "Genotypes"),
      make("p", { class: "told" }, `QUAL ${formatNumber(site.quality, 2)}`),
      evidenceTable(`${site.chrom}-${site.pos} genotypes`, site, calls),
    );
  }
  if (!site.panels.length) {
    const why = report.noReads ?? "No likelihood table covers this site: there are no reads to show.";
    article.append(make("p", { class: "empty" }, why));
  }
  const loaded = await Promise.all(site.panels.map(([number]) => report.panel(number)));
  loaded.forEach((panel, place) => article.append(...regionViews(report, site, panel, site.panels[place][1], calls)));
  return article;
}

const siteName = (site) => `${site.chrom}:${formatNumber(site.pos)}`;

function siteHead(report, site) {
  const change = site.alts.length
    ? `${shortened(site.ref, 30)} → ${site.alts.map((alt) => shortened(alt, 30)).join(", ")}`
    : "";
  const chips = [site.kind, site.id].filter((text) => text && text !== "other");
  return make(
    "header",
    {},
    make("h2", {}, siteName(site), " ", make("span", { class: "change" }, change)),
    ...chips.map((text) => make("span", { class: "chip" }, text)),
    site.filters === "." ? null : filterPill(site.filters),
    ...site.info.map(([name, text]) => make("span", { class: "chip" }, `${name} ${shortened(text, 40)}`)),
    siteLinks(report.links, site),
  );
}

function callOf(report, number, index, sample) {
  const columns = Object.entries(report.sites.calls[number]);
  return { sample, ps: "", ...Object.fromEntries(columns.map(([name, values]) => [name, values[index]])) };
}

function regionViews(report, site, panel, alleles, calls) {
  const kindOf = alleles ?? panel.haplotypes.map((_, index) => index);
  const rank = (kind) => (kind < 0 ? Infinity : kind);
  const order = kindOf.map((_, index) => index).sort((a, b) => rank(kindOf[a]) - rank(kindOf[b]) || a - b);
  const siteAlleles = allelesOf(site);
  const nameOf = (kind) =>
    alleles ? (kind < 0 ? "another allele" : siteAlleles[kind]) : haplotypeLabel(panel.haplotypes[kind].name);
  const place = `${panel.chrom}:${formatNumber(panel.start + 1)}-${formatNumber(panel.end)}`;
  const tables = report.inputs.filter(([what]) => what === "likelihoods");
  const source = tables.length > 1 ? ` From ${tables[panel.table][1]}.` : "";
  const told = panel.variants.replaceAll(",", ", ").replace(/[A-Z]{25,}/gi, (allele) => shortened(allele, 24));
  const variants = panel.variants === "." ? "" : `; variants ${told}`;
  // Samples that carry another allele than the reference's are shown at once.
  const carriers = panel.groups.filter(({ sample }) =>
    calls.some((call) => call.sample === report.samples[sample] && /[1-9]/.test(call.gt)),
  );
  const ownOf = new Map(panel.groups.map((group) => [group, ownOfGroup(report, group, alleles, calls)]));
  const owned = new Set([...ownOf.values()].flat());
  const opened = (carriers.length ? carriers : panel.groups).slice(0, OPEN_SAMPLES);
  return [
    make("h3", {}, `${plural(panel.haplotypes.length, "haplotype")} of ${place}`),
    make(
      "p",
      { class: "told" },
      `Under the reference; a dot is the reference's base${owned.size ? ", ● a haplotype that a sample has" : ""}` +
        `${shortened(variants, 160)}.${source}`,
    ),
    alignmentView(panel, site, kindOf, order, owned),
    ...panel.groups.map((group) =>
      sampleView(report, panel, group, {
        ...{ site, calls, alleles, kindOf, order, nameOf },
        own: ownOf.get(group),
        isOpen: opened.includes(group),
      }),
    ),
  ];
}

function ownOfGroup(report, group, alleles, calls) {
  const call = calls.find(({ sample }) => sample === report.samples[group.sample]);
  return call ? ownHaplotypes(group, alleles, call.gt, report.constants) : [];
}

// A sample's reads; drawn when it is opened.
function sampleView(report, panel, group, view) {
  const sample = report.samples[group.sample];
  const counts = plural(group.reads, "read");
  const left = group.shown < group.reads ? `, ${formatNumber(group.shown)} of them shown` : "";
  const summary = make("summary", {}, make("b", {}, sample), ` ${counts}${left}`);
  const details = make("details", { class: "sample", open: view.isOpen }, summary);
  const call = view.calls.find((one) => one.sample === sample);
  const fill = () => {
    if (details.children.length > 1 || !details.open) return;
    details.append(...readViews(report, panel, group, { ...view, call }));
  };
  details.addEventListener("toggle", fill);
  fill();
  return details;
}

function readViews(report, panel, group, view) {
  const heatmap = new Heatmap(panel, group, view, report.constants);
  const name = `${report.samples[group.sample]} ${view.site.chrom}-${view.site.pos}`;
  return [
    choiceLine(heatmap, view.nameOf),
    ownLine(panel, view),
    countsLine(group, view, report.constants),
    make(
      "div",
      { class: "reads" },
      heatmapView(report, panel, group, view, heatmap, name),
      haplotypeTable(panel, group, view, `${name} haplotypes`),
      panel.columns ? basesView(panel, group, view, heatmap, report.constants, name) : null,
    ),
    group.explained.length ? decidingBases(report, panel, group) : null,
  ].filter(Boolean);
}

// The heatmap, with a box to tick for numbers in its cells.
function heatmapView(report, panel, group, view, heatmap, name) {
  const holder = make("div", { class: "wide" });
  const show = (shown) => holder.replaceChildren(shown.canvas, pictureTools(shown.canvas, `${name} likelihoods`));
  const withNumbers = make("input", {
    type: "checkbox",
    onchange: (event) =>
      show(new Heatmap(panel, group, { ...view, withNumbers: event.target.checked }, report.constants)),
  });
  show(heatmap);
  return make(
    "div",
    { class: "wide" },
    make("label", { class: "choice" }, withNumbers, "numbers (log10 behind the read's best)"),
    holder,
    legend(diverging, "against", `for (${SPAN} log10)`),
  );
}

function basesView(panel, group, view, heatmap, constants, name) {
  const pileup = new Pileup(panel, group, view.site, heatmap, view.own, constants);
  return make(
    "div",
    { class: "bases" },
    make("h4", {}, "Reads as bases"),
    make(
      "p",
      { class: "told how-to-read" },
      "In the order of the heatmap. Grey agrees with the reference, darker with base quality; a letter on its colour" +
        " differs, paler with less quality. Small letters are soft-clipped, a line is a deletion, a bar an insertion." +
        " Triangles point along the strand; beside them is the mapping quality (hollow reads: below 10).",
    ),
    pileupView(pileup),
    pictureTools(pileup.canvas, `${name} bases`),
  );
}

function choiceLine({ choices, kinds }, nameOf) {
  const parts = kinds.map((kind) => [kind, choices.filter((one) => one.decided && one.kind === kind).length]);
  const undecided = choices.filter((one) => !one.decided).length;
  const line = make("p", { class: "choices" });
  for (const [kind, count] of parts) {
    const text = `${formatNumber(count)} for ${shortened(nameOf(kind), 20)}`;
    line.append(make("span", {}, mark(alleleColour(kind)), text));
  }
  line.append(make("span", {}, make("i", { class: "mark none" }), `${formatNumber(undecided)} undecided`));
  return line;
}

// Which haplotypes the sample has, and in which phase.
function ownLine(panel, { call, own }) {
  if (!own.length) return null;
  const names = own.map((index) => haplotypeLabel(panel.haplotypes[index].name));
  const isPhased = call.gt.includes("|");
  const set = call.ps ? ` in phase set ${call.ps}` : "";
  const phase = isPhased ? `; phased${set}, the copies in the order of ${call.gt}` : "";
  const told = names.length > 1 ? `Own haplotypes (●): ${names.join(" and ")}` : `Own haplotype (●): ${names[0]}`;
  return make("p", { class: "told" }, `${told}, by GT ${call.gt} and the reads${phase}.`);
}

// Why the reads below are more than DP, and DP more than AD.
function countsLine(group, { call, site }, constants) {
  if (!call || call.dp === null) return null;
  const parts = [
    `${plural(group.reads, "read")} of the region ${group.reads === 1 ? "is" : "are"} here.`,
    `DP ${formatNumber(call.dp)} counts those that reach ${siteName(site)} and fit a haplotype.`,
  ];
  const informative = call.ad.reduce((sum, depth) => sum + depth, 0);
  if (call.ad.length) {
    const undecided = call.dp - informative;
    parts.push(
      `AD ${call.ad.join(", ")} counts ${informative === call.dp ? "all" : formatNumber(informative)} of those: their` +
        ` best allele leads by more than ${constants.informative} log10.`,
      undecided > 0 ? `The other ${formatNumber(undecided)} are undecided.` : "",
    );
  }
  return make("p", { class: "told" }, parts.join(" "));
}

// The likelihood of each haplotype, from all reads of the sample together: its own first, then the likeliest.
function haplotypeTable(panel, group, view, tableName) {
  const { order, alleles, own } = view;
  const best = Math.max(...group.sums.map((sum) => sum ?? -Infinity));
  const heads = ["Haplotype", "Alleles", ...(alleles ? ["Here"] : []), "Reads", "Σ log10", "Behind"];
  const rank = (index) => (own.includes(index) ? -Infinity : best - (group.sums[index] ?? -Infinity));
  const ranked = order.length > MOST_HAPLOTYPES ? [...order].sort((a, b) => rank(a) - rank(b)) : order;
  const rowOf = (index) => haplotypeRow(panel, group, index, best, view);
  const caption = make("caption", {}, "Sums over all reads of the sample; reads that choose each haplotype");
  const rest = ranked.slice(MOST_HAPLOTYPES);
  if (rest.length) {
    const showAll = (event) => {
      event.target.closest("table").tBodies[0].append(...rest.map(rowOf));
      event.target.remove();
    };
    const told = `Show ${formatNumber(rest.length)} less likely ones`;
    caption.append(" ", make("button", { type: "button", class: "plainbutton", onclick: showAll }, told));
  }
  return plainTable(tableName, heads, ranked.slice(0, MOST_HAPLOTYPES).map(rowOf), { caption });
}

function haplotypeRow(panel, group, index, best, { kindOf, nameOf, alleles, own }) {
  const { name, alleles: carried } = panel.haplotypes[index];
  const sum = group.sums[index];
  const sign = mark(alleleColour(kindOf[index]));
  return make(
    "tr",
    { class: sum === best ? "best" : null },
    make("th", { scope: "row", title: name }, sign, haplotypeLabel(name), own.includes(index) ? " ●" : ""),
    make("td", {}, carried.replaceAll(",", " ")),
    alleles ? make("td", {}, shortened(nameOf(kindOf[index]), 12)) : null,
    make("td", { class: "number" }, formatNumber(group.chosen[index])),
    make("td", { class: "number" }, sum === null ? "−∞" : formatNumber(sum, 2)),
    make("td", { class: "number" }, sum === null ? "∞" : formatNumber(best - sum, 2)),
  );
}

// Links to other programs, where the reader asked for them (--link-genome): [name, address] with {place} or {rs} in it.
// Nothing is requested before a click.
function siteLinks(links, site) {
  if (!links?.length) return null;
  const last = site.pos + Math.max(site.ref.length, 1) - 1;
  const place = `${site.chrom}:${Math.max(1, site.pos - AROUND_LINK)}-${last + AROUND_LINK}`;
  const ids = site.id.split(";").filter((id) => /^rs\d+$/.test(id));
  const found = links.flatMap(([name, address]) =>
    address.includes("{rs}")
      ? ids.map((id) => [`${name} ${id}`, address.replace("{rs}", id)])
      : [[name, address.replace("{place}", encodeURIComponent(place))]],
  );
  const attributes = { target: "_blank", rel: "noopener noreferrer" };
  return make("span", { class: "links" }, ...found.map(([name, href]) => make("a", { href, ...attributes }, name)));
}
