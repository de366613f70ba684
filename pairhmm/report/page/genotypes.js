// Genotypes and their evidence.

import { alleleColour } from "./colours.js";
import { make } from "./dom.js";
import { plainTable } from "./export.js";
import { MISSING, formatNumber, plural, shortened } from "./format.js";

// All genotypes in VCF order (VCF 4.3, section 1.6.2): by the last allele, then the one before, ...
function genotypesInOrder(alleles, ploidy) {
  if (ploidy === 0) return [[]];
  const genotypes = [];
  for (let last = 0; last < alleles; last++) {
    for (const before of genotypesInOrder(last + 1, ploidy - 1)) genotypes.push([...before, last]);
  }
  return genotypes;
}

export const allelesOf = (site) => [site.ref, ...site.alts];

function genotypeBases(genotype, alleles) {
  return genotype.replace(/\d+/g, (number) => shortened(alleles[Number(number)] ?? number, 10));
}

export const PASSED = [".", "PASS"];

// FILTER, so that a failed one stands out.
export const filterPill = (filters) =>
  make("span", { class: PASSED.includes(filters) ? "filter" : "filter raised" }, filters.replaceAll(";", ", "));

// One row a sample: GT, GQ, depths of the alleles, and the likelihood of every genotype.
export function evidenceTable(name, site, calls) {
  const alleles = allelesOf(site);
  const last = calls.some(isMixture) ? "Fraction (95 % interval)" : "PL (lower is likelier)";
  const heads = ["Sample", "Genotype", "GQ", "DP", "AD (informative reads)", last];
  const rows = calls.map((call) => evidenceRow(call, alleles));
  return plainTable(name, heads, rows, { kind: "evidence" });
}

function evidenceRow(call, alleles) {
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, call.sample),
    make(
      "td",
      {},
      make("b", {}, call.gt),
      ` ${genotypeBases(call.gt, alleles)}${call.ps ? `, phase set ${call.ps}` : ""}`,
    ),
    make("td", { class: "number" }, formatNumber(call.gq)),
    make("td", { class: "number" }, formatNumber(call.dp)),
    make("td", {}, depthBar(call.ad, alleles)),
    make("td", {}, isMixture(call) ? fractionList(call, alleles) : likelihoodList(call, alleles.length)),
  );
}

const isMixture = ({ ciaf }) => ciaf?.length > 0;

function fractionList({ af, ciaf }, alleles) {
  const percent = (share) => formatNumber(100 * share, 2);
  const texts = af.map((fraction, number) => {
    const [low, high] = ciaf.slice(2 * number, 2 * number + 2).map(percent);
    return `${shortened(alleles[number + 1])} ${percent(fraction)} % (${low} to ${high})`;
  });
  return texts.join(", ");
}

function depthBar(depths, alleles) {
  const total = depths.reduce((sum, depth) => sum + depth, 0);
  const bar = make("span", { class: "depths", role: "img", "aria-label": `AD ${depths.join(",")}` });
  depths.forEach((depth, allele) => {
    if (!depth) return;
    const part = make("span", { title: `${alleles[allele]}: ${plural(depth, "read")}` }, String(depth));
    part.style.flexGrow = depth;
    part.style.background = alleleColour(allele);
    bar.append(part);
  });
  return total ? bar : MISSING;
}

const MOST_GENOTYPES = 10;

function likelihoodList({ gt, pl }, alleles) {
  const ploidy = gt.split(/[/|]/).length;
  if (!pl.length) return MISSING;
  const genotypes = genotypesInOrder(alleles, ploidy).map((genotype) => genotype.join("/"));
  const ranked = pl.map((value, index) => [value, genotypes[index] ?? "?"]);
  const shown =
    ranked.length <= MOST_GENOTYPES ? ranked : ranked.toSorted((a, b) => a[0] - b[0]).slice(0, MOST_GENOTYPES);
  return make(
    "span",
    { class: "likelihoods" },
    ...shown.map(([value, genotype]) =>
      make("span", { class: value === 0 ? "best" : null }, make("i", {}, genotype), formatNumber(value)),
    ),
    ranked.length > shown.length ? `and ${ranked.length - shown.length} less likely` : null,
  );
}
