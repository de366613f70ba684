// Headers of the outputs (pairhmm/variants/call_writer.py, pairhmm/likelihoods/writer.py).

import { printable } from "../files/names.js";
import {
  FIELD_LINES,
  GVCF_LINES,
  HAPLOTYPE_COLUMNS,
  LIKELIHOOD_COLUMNS,
  MAX_GQ,
  MIXTURE_FIELD_LINES,
  MIXTURE_FILTER_LINES,
  OPTIONS,
} from "../models/parameters.js";

/**
 * The header of a VCF, with the line end behind it.
 *
 * @param {import("./events.js").BeginEvent} begin
 * @param {Record<string, any>} [options] of the run
 * @param {Record<string, string>} [provenance] header lines ##key=value
 */
export function vcfHeader({ contigs, samples, reference }, options = {}, provenance = {}) {
  const { minQual, gvcf, mixture } = { ...OPTIONS, ...options };
  const least = general(Math.min(minQual, MAX_GQ));
  const genotypes = mixture ? "" : `; where every genotype is the reference, the lowest GQ is below ${least}`;
  const rule = `QUAL is below ${general(minQual)}${genotypes}`;
  const lines = [
    "##fileformat=VCFv4.3",
    ...Object.entries(provenance).map(([key, value]) => `##${key}=${printable(value)}`),
    `##reference=${printable(reference)}`,
    '##FILTER=<ID=PASS,Description="All filters passed">',
    `##FILTER=<ID=LowQual,Description="${rule}">`,
    ...(mixture ? MIXTURE_FILTER_LINES : []),
    ...(gvcf ? GVCF_LINES : []),
    ...Array.from(contigs, ([name, length]) => `##contig=<ID=${name},length=${length}>`),
    ...(mixture ? MIXTURE_FIELD_LINES : FIELD_LINES),
    ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", ...samples].join("\t"),
  ];
  return `${lines.join("\n")}\n`;
}

/** The line above a table of likelihoods. */
export function tsvHeader() {
  return `#${LIKELIHOOD_COLUMNS.join("\t")}\n`;
}

/** The lines above a table's companion, which names the model and describes the haplotypes. @param {string} model */
export function haplotypesHeader(model) {
  return `##pairhmmModel=${model}\n#${HAPLOTYPE_COLUMNS.join("\t")}\n`;
}

/** A number with six significant digits, as Python's `:.6g`. @param {number} value */
function general(value) {
  const rounded = Number(value.toPrecision(6));
  if (rounded === 0 || (Math.abs(rounded) >= 1e-4 && Math.abs(rounded) < 1e6)) return String(rounded);
  const [digits, exponent] = rounded.toExponential().split("e");
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}
