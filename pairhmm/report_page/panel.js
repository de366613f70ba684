// Everything about one site.

import { alignmentView } from "./alignment.js";
import { legend } from "./cohort.js";
import { alleleColour, diverging } from "./colours.js";
import { decidingBases } from "./deciding.js";
import { make } from "./dom.js";
import { formatNumber, plural, shortened } from "./format.js";
import { allelesOf, evidenceTable } from "./genotypes.js";
import { Heatmap, SPAN, haplotypeLabel } from "./heatmap.js";

const OPEN_SAMPLES = 3;

export async function showSite(report, site, holder, isCurrent) {
  const calls = report.sites.samples.map((sample, number) => callOf(report, number, site.index, sample));
  const article = make("article", { class: "panel", "aria-label": siteName(site) }, siteHead(site));
  if (calls.length) {
    const told = site.filters === "." ? "" : `, FILTER ${site.filters}`;
    article.append(
      make("h3", {}, "Genotypes"),
      make("p", { class: "told" }, `QUAL ${formatNumber(site.quality, 2)}${told}`),
      make("div", { class: "wide" }, evidenceTable(site, calls)),
    );
  }
  if (!site.panels.length) {
    const why = report.noReads ?? "No likelihood table covers this site: there are no reads to show.";
    article.append(make("p", { class: "empty" }, why));
  }
  const loaded = await Promise.all(site.panels.map(([number]) => report.panel(number)));
  if (!isCurrent()) return;
  holder.replaceChildren(article);
  holder.scrollTop = 0;
  loaded.forEach((panel, place) => article.append(...regionViews(report, site, panel, site.panels[place][1])));
}

const siteName = (site) => `${site.chrom}:${formatNumber(site.pos)}`;

function siteHead(site) {
  const change = site.alts.length
    ? `${shortened(site.ref, 30)} → ${site.alts.map((alt) => shortened(alt, 30)).join(", ")}`
    : "";
  const chips = [site.kind, site.id].filter((text) => text && text !== "other");
  return make(
    "header",
    {},
    make("h2", {}, siteName(site), " ", make("span", { class: "change" }, change)),
    ...chips.map((text) => make("span", { class: "chip" }, text)),
  );
}

function callOf(report, number, index, sample) {
  const { gt, ad, dp, gq, pl } = report.sites.calls[number];
  return { sample, gt: gt[index], ad: ad[index], dp: dp[index], gq: gq[index], pl: pl[index] };
}

function regionViews(report, site, panel, alleles) {
  const kindOf = alleles ?? panel.haplotypes.map((_, index) => index);
  const rank = (kind) => (kind < 0 ? Infinity : kind);
  const order = kindOf.map((_, index) => index).sort((a, b) => rank(kindOf[a]) - rank(kindOf[b]) || a - b);
  const siteAlleles = allelesOf(site);
  const nameOf = (kind) =>
    alleles ? (kind < 0 ? "another allele" : siteAlleles[kind]) : haplotypeLabel(panel.haplotypes[kind].name);
  const place = `${panel.chrom}:${formatNumber(panel.start + 1)}-${formatNumber(panel.end)}`;
  const tables = report.inputs.filter(([what]) => what === "likelihoods");
  const source = tables.length > 1 ? ` From ${tables[panel.table][1]}.` : "";
  const variants = panel.variants === "." ? "" : `; variants ${panel.variants.replaceAll(",", ", ")}`;
  return [
    make("h3", {}, `${plural(panel.haplotypes.length, "haplotype")} of ${place}`),
    make(
      "p",
      { class: "told" },
      `Under the reference; a dot is the reference's base${shortened(variants, 160)}.${source}`,
    ),
    alignmentView(panel, site, kindOf, order),
    ...panel.groups.map((group, number) =>
      sampleView(report, panel, group, { alleles, kindOf, order, nameOf, isOpen: number < OPEN_SAMPLES }),
    ),
  ];
}

// A sample's reads; drawn when it is opened.
function sampleView(report, panel, group, view) {
  const counts = plural(group.reads, "read");
  const left = group.shown < group.reads ? `, ${formatNumber(group.shown)} of them shown` : "";
  const summary = make("summary", {}, make("b", {}, report.samples[group.sample]), ` ${counts}${left}`);
  const details = make("details", { class: "sample", open: view.isOpen }, summary);
  const fill = () => {
    if (details.children.length > 1 || !details.open) return;
    const heatmap = new Heatmap(panel, group, view.alleles, view.nameOf, report.constants);
    details.append(
      choiceLine(heatmap, view.nameOf),
      make(
        "div",
        { class: "reads" },
        make("div", { class: "wide" }, heatmap.canvas, legend(diverging, "against", `for (${SPAN} log10)`)),
        make("div", { class: "wide" }, haplotypeTable(panel, group, view)),
      ),
      group.explained.length ? decidingBases(report, panel, group) : "",
    );
  };
  details.addEventListener("toggle", fill);
  fill();
  return details;
}

function choiceLine({ choices, kinds }, nameOf) {
  const parts = kinds.map((kind) => [kind, choices.filter((one) => one.decided && one.kind === kind).length]);
  const undecided = choices.filter((one) => !one.decided).length;
  const line = make("p", { class: "choices" });
  for (const [kind, count] of parts) {
    const mark = make("i", { class: "mark" });
    mark.style.background = alleleColour(kind);
    line.append(make("span", {}, mark, `${formatNumber(count)} for ${shortened(nameOf(kind), 20)}`));
  }
  line.append(make("span", {}, make("i", { class: "mark none" }), `${formatNumber(undecided)} undecided`));
  return line;
}

// The likelihood of each haplotype, from all reads of the sample together.
function haplotypeTable(panel, group, { kindOf, order, nameOf, alleles }) {
  const best = Math.max(...group.sums.map((sum) => sum ?? -Infinity));
  const heads = ["Haplotype", "Alleles", ...(alleles ? ["Here"] : []), "Reads", "Σ log10", "Behind"];
  const rows = order.map((index) => {
    const { name, alleles: carried } = panel.haplotypes[index];
    const sum = group.sums[index];
    const mark = make("i", { class: "mark" });
    mark.style.background = alleleColour(kindOf[index]);
    return make(
      "tr",
      { class: sum === best ? "best" : null },
      make("th", { scope: "row", title: name }, mark, haplotypeLabel(name)),
      make("td", {}, carried.replaceAll(",", " ")),
      alleles ? make("td", {}, shortened(nameOf(kindOf[index]), 12)) : null,
      make("td", { class: "number" }, formatNumber(group.chosen[index])),
      make("td", { class: "number" }, sum === null ? "−∞" : formatNumber(sum, 2)),
      make("td", { class: "number" }, sum === null ? "∞" : formatNumber(best - sum, 2)),
    );
  });
  return make(
    "table",
    { class: "plain" },
    make("caption", {}, "Sums over all reads of the sample; reads that choose each haplotype"),
    make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
    make("tbody", {}, ...rows),
  );
}
