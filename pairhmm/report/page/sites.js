// The list of sites, and beside it the panel of the one that is chosen.

import { make } from "./dom.js";
import { MISSING, formatNumber, shortened } from "./format.js";
import { PASSED, filterPill } from "./genotypes.js";
import { showSite } from "./panel.js";
import { MOST_SITES_PRINTED, printSites } from "./printing.js";
import { DataTable, figures } from "./table.js";

const MOST_GENOTYPE_COLUMNS = 5;
const oneColumn = window.matchMedia("(max-width: 1050px)"); // the panel is below the list, as in panel.css

function siteAt(report, index) {
  const { sites } = report;
  return {
    index,
    chrom: sites.chroms[sites.chrom[index]],
    pos: sites.pos[index],
    id: sites.id[index],
    ref: sites.ref[index],
    alts: sites.alts[index] ? sites.alts[index].split(",") : [],
    kind: sites.kind[index],
    quality: sites.quality[index],
    filters: sites.filters[index],
    info: (sites.infoNames ?? []).map((name, number) => [name, sites.info[number][index]]),
    panels: sites.panels[index],
  };
}

export function showSites(report) {
  const { sites } = report;
  const holder = make("div", { class: "holder", tabindex: "-1" });
  let current = 0;
  let view = null; // null until a site is chosen
  const table = new DataTable(siteColumns(report), {
    label: "sites",
    noun: "site",
    count: sites.pos.length,
    height: "none",
    hint: `filter: chr1:1,000-9,000  type=SNV ${sites.samples.length ? " gq<30  0/1 …" : "…"}`,
    rowClass: (index) => (passes(sites, index) ? null : "failed"),
    placeOf: (index) => [sites.chroms[sites.chrom[index]], sites.pos[index]],
    onSelect: (index, isAimed) => {
      const turn = ++current;
      if (index < 0) {
        holder.classList.remove("stale");
        holder.replaceChildren(make("p", { class: "empty" }, "The filter leaves no site."));
        history.replaceState(null, "", location.pathname + location.search);
        return;
      }
      const site = siteAt(report, index);
      if (view) history.replaceState(null, "", `#site=${encodeURIComponent(`${site.chrom}:${site.pos}`)}`);
      const shown = showSite(report, site, holder, () => turn === current);
      if (view && isAimed && oneColumn.matches) shown.then(() => holder.parentElement.scrollIntoView());
    },
  });
  const list = make("section", { class: "card list" }, table.element);
  const print = () =>
    printSites(
      report,
      table.order.map((index) => siteAt(report, index)),
    );
  const told = `Print the sites of the list, one a page, at most ${MOST_SITES_PRINTED}`;
  table.element
    .querySelector(".tools")
    .append(make("button", { type: "button", title: told, "aria-label": told, onclick: print }, "Print"));
  if (sites.pos.length) table.select(0);
  view = make("div", { class: "view split" }, list, make("section", { class: "card detail" }, holder));
  view.siteTable = table;
  return view;
}

function siteColumns({ sites, inputs, overview }) {
  const columns = [
    {
      title: "Position",
      told: "Contig and position; sorts in the order of the file",
      value: (index) => index,
      text: (index) => `${sites.chroms[sites.chrom[index]]}:${formatNumber(sites.pos[index])}`,
      saved: (index) => `${sites.chroms[sites.chrom[index]]}:${sites.pos[index]}`,
    },
    ...(sites.samples.length ? genotypeColumns(sites) : []),
    { title: "Ref", value: (index) => sites.ref[index], text: (index) => shortened(sites.ref[index] || MISSING, 10) },
    { title: "Alt", value: (index) => sites.alts[index], text: (index) => shortened(sites.alts[index] || MISSING, 12) },
    { title: "Type", value: (index) => sites.kind[index] },
    ...(sites.samples.length ? callColumns(sites, overview?.calls?.minDepth ?? 0) : []),
  ];
  if (inputs.some(([what]) => what === "likelihoods")) {
    const told = "Likelihood tables that cover the site";
    columns.push(figures("Panels", (index) => sites.panels[index].length, { told }));
  }
  (sites.infoNames ?? []).forEach((title, number) => {
    const told = `${title}, of INFO`;
    const value = (index) => sites.info[number][index];
    columns.push({ title, told, value, text: (index) => shortened(value(index), 24) });
  });
  if (sites.id.some(Boolean)) columns.push({ title: "ID", value: (index) => sites.id[index] });
  return columns;
}

const passes = (sites, index) => PASSED.includes(sites.filters[index]);

// FILTER and genotypes, as pills that stay in view where the list is narrow.
function genotypeColumns(sites) {
  const { samples } = sites;
  const few = samples.length <= MOST_GENOTYPE_COLUMNS;
  const single = samples.map((sample, number) => genotypeColumn(sites, sample, number, samples.length > 1));
  const joint = {
    title: "Genotypes",
    told: `Genotypes of ${samples.join(", ")}, in this order`,
    value: (index) => sites.calls.map(({ gt }) => gt[index]).join(" "),
    cell: (index) => make("span", {}, ...sites.calls.map(({ gt }, number) => genotypeChip(gt[index], samples[number]))),
  };
  return [filterColumn(sites), ...(few ? single : []), ...(few && samples.length > 1 ? [joint] : [])];
}

function callColumns(sites, minDepth) {
  return [
    ...countColumns(sites, minDepth, sites.samples.length <= MOST_GENOTYPE_COLUMNS),
    figures("GQ", (index) => sites.leastGq[index], { told: "The lowest genotype quality of the samples" }),
    figures("Depth", (index) => depthOf(sites, index), { told: "Reads of all samples (DP)" }),
    figures("Qual", (index) => sites.quality[index], { told: "QUAL, Phred" }),
  ];
}

function filterColumn(sites) {
  return {
    title: "Filter",
    told: "FILTER: PASS, or the filters that the site fails",
    value: (index) => sites.filters[index],
    has: (index, wanted) => sites.filters[index].split(";").includes(wanted),
    cell: (index) => filterPill(sites.filters[index]),
  };
}

function depthOf(sites, index) {
  const depths = sites.calls.map(({ dp }) => dp[index]).filter((depth) => depth !== null);
  return depths.length ? depths.reduce((sum, depth) => sum + depth, 0) : null;
}

function genotypeColumn(sites, sample, number, hidden) {
  return {
    title: hidden ? sample : shortened(sample, 12),
    told: `Genotype of ${sample}`,
    hidden,
    value: (index) => sites.calls[number].gt[index],
    cell: (index) => genotypeChip(sites.calls[number].gt[index]),
  };
}

// Columns that count samples. A filter such as `het=NAME` finds the sites of one sample.
function countColumns(sites, minDepth, areHidden) {
  const counted = (title, told, test, hidden) => {
    const own = (index) => sites.samples.filter((_, number) => test(sites.calls[number], index));
    const has = (index, sample) => own(index).includes(sample);
    return { ...figures(title, (index) => own(index).length, { told }), has, hidden };
  };
  const kind = ({ gt, absent }, index) => (absent?.[index] ? "absent" : genotypeKind(gt[index]));
  const isCarried = (call, index) => /[1-9]/.test(call.gt[index]);
  const isThin = ({ dp }, index) => dp[index] !== null && dp[index] < minDepth;
  return [
    counted("Het", "Samples with two alleles", (...place) => kind(...place) === "het", areHidden),
    counted("Hom", "Samples with one other allele", (...place) => kind(...place) === "hom", areHidden),
    counted("Missing", "Samples without a genotype", (...place) => kind(...place) === "none", areHidden),
    counted("Called", "Samples with a genotype", (...place) => !["none", "absent"].includes(kind(...place)), true),
    counted("Carried", "Samples with another allele than the reference's", isCarried, true),
    counted("Low DP", `Samples with a DP below ${minDepth}`, isThin, true),
    { title: "State", hidden: true, value: (index) => (passes(sites, index) ? "pass" : "fail") },
    { title: "Indel", hidden: true, value: (index) => (INDELS.has(sites.kind[index]) ? "yes" : "no") },
  ];
}

const INDELS = new Set(["insertion", "deletion", "mixed"]);

function genotypeKind(genotype) {
  const alleles = new Set(genotype.split(/[/|]/));
  if (alleles.has(".")) return "none";
  return alleles.size > 1 ? "het" : alleles.has("0") ? "ref" : "hom";
}

const genotypeChip = (genotype, sample) =>
  make("span", { class: `genotype ${genotypeKind(genotype)}`, title: sample ?? null }, genotype);

// The site that the address names, so that a site can be linked to.
export function siteOfAddress(report) {
  const found = /^#site=(.+):(\d+)$/.exec(decodeURIComponent(location.hash));
  if (!found) return -1;
  const { sites } = report;
  return sites.pos.findIndex((pos, index) => pos === Number(found[2]) && sites.chroms[sites.chrom[index]] === found[1]);
}
