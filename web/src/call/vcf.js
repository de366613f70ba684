// Calls as the text of VCF (pairhmm/io/variants/call_writer.py).

import { printable } from "../files/names.js";
import { MAX_GQ } from "../genomics/genotypes.js";
import { CALL_OPTIONS } from "./options.js";

/** @typedef {import("./events.js").CalledSite} CalledSite */

const FIELDS = [
  '##INFO=<ID=AC,Number=A,Type=Integer,Description="Copies of each alternate allele in the genotypes">',
  '##INFO=<ID=AF,Number=A,Type=Float,Description="Share of each alternate allele in the genotypes">',
  '##INFO=<ID=AN,Number=1,Type=Integer,Description="Alleles in the genotypes">',
  '##INFO=<ID=DP,Number=1,Type=Integer,Description="Reads used, over all samples">',
  '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">',
  '##FORMAT=<ID=AD,Number=R,Type=Integer,Description="Informative reads of each allele">',
  '##FORMAT=<ID=DP,Number=1,Type=Integer,Description="Reads used, both mates of a pair counted">',
  '##FORMAT=<ID=GQ,Number=1,Type=Integer,Description="Phred-scaled probability that the genotype is wrong">',
  '##FORMAT=<ID=PL,Number=G,Type=Integer,Description="Phred-scaled genotype likelihoods, the best is 0">',
];

/**
 * The header of a VCF, with the line end behind it.
 *
 * @param {{contigs: Iterable<[string, number]>, samples: string[], reference: string}} begin the first event of a run
 * @param {{minQual?: number}} [options]
 * @param {Record<string, string>} [provenance] header lines ##key=value
 */
export function vcfHeader({ contigs, samples, reference }, { minQual = CALL_OPTIONS.minQual } = {}, provenance = {}) {
  const least = general(Math.min(minQual, MAX_GQ));
  const rule = `QUAL is below ${general(minQual)}; where every genotype is the reference, the lowest GQ is below ${least}`;
  const lines = [
    "##fileformat=VCFv4.3",
    ...Object.entries(provenance).map(([key, value]) => `##${key}=${printable(value)}`),
    `##reference=${printable(reference)}`,
    '##FILTER=<ID=PASS,Description="All filters passed">',
    `##FILTER=<ID=LowQual,Description="${rule}">`,
    ...Array.from(contigs, ([name, length]) => `##contig=<ID=${name},length=${length}>`),
    ...FIELDS,
    ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", ...samples].join("\t"),
  ];
  return `${lines.join("\n")}\n`;
}

/** A record, as a line of VCF with its end. @param {CalledSite} site */
export function vcfLine({ chrom, pos, id, ref, alts, quality, filter, calls }) {
  const called = calls.flatMap((call) => call.alleles.filter((allele) => allele !== null));
  const copies = alts.map((_, index) => called.filter((allele) => allele === index + 1).length);
  const shares = copies.map((count) => (called.length ? general(count / called.length) : "."));
  const depth = calls.reduce((sum, call) => sum + call.depth, 0);
  const info = `AC=${copies.join()};AF=${shares.join()};AN=${called.length};DP=${depth}`;
  const record = [chrom, pos + 1, id || ".", ref, alts.join(), quality.toFixed(2), filter, info, "GT:AD:DP:GQ:PL"];
  return `${[...record, ...calls.map(sampleColumn)].join("\t")}\n`;
}

/** @param {import("./events.js").Call} call */
function sampleColumn({ alleles, depths, depth, quality, likelihoods }) {
  const genotype = alleles.map((allele) => allele ?? ".").join("/");
  const sure = alleles.includes(null) ? ".:." : `${quality}:${likelihoods.join() || "."}`;
  return `${genotype}:${depths.join()}:${depth}:${sure}`;
}

/** A number with six significant digits, as Python's `:.6g`. @param {number} value */
function general(value) {
  const rounded = Number(value.toPrecision(6));
  if (rounded === 0 || (Math.abs(rounded) >= 1e-4 && Math.abs(rounded) < 1e6)) return String(rounded);
  const [digits, exponent] = rounded.toExponential().split("e");
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}
