// Headers of the outputs (pairhmm/variants/call_writer.py, pairhmm/likelihoods/writer.py).

import { printable } from "../files/names.js";
import { GQ_BANDS, MAX_GQ, OPTIONS } from "../models/parameters.js";

const COUNT_FIELDS = [
  '##INFO=<ID=AC,Number=A,Type=Integer,Description="Copies of each alternate allele in the genotypes">',
  '##INFO=<ID=AF,Number=A,Type=Float,Description="Share of each alternate allele in the genotypes">',
  '##INFO=<ID=AN,Number=1,Type=Integer,Description="Alleles in the genotypes">',
  '##INFO=<ID=DP,Number=1,Type=Integer,Description="Reads used, over all samples">',
];

const FORMAT_FIELDS = [
  '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">',
  '##FORMAT=<ID=AD,Number=R,Type=Integer,Description="Informative reads of each allele">',
  '##FORMAT=<ID=DP,Number=1,Type=Integer,Description="Reads used, both mates of a pair counted">',
  '##FORMAT=<ID=GQ,Number=1,Type=Integer,Description="Phred-scaled probability that the genotype is wrong">',
  '##FORMAT=<ID=PL,Number=G,Type=Integer,Description="Phred-scaled genotype likelihoods, the best is 0">',
  '##FORMAT=<ID=PS,Number=1,Type=Integer,Description="Phase set: POS of its first record">',
  '##FORMAT=<ID=SB,Number=4,Type=Integer,Description="Informative reads by strand: reference forward and reverse, alternate forward and reverse">',
];

const COLUMNS = ["sample", "chrom", "start", "end", "read_name", "mate", "haplotype", "log10_likelihood", "precision"];
const HAPLOTYPE_COLUMNS = ["chrom", "start", "end", "haplotype", "sequence", "alleles", "variants", "nuisance"];

/**
 * The header of a VCF, with the line end behind it.
 *
 * @param {import("./events.js").BeginEvent} begin
 * @param {{minQual?: number, gvcf?: boolean}} [options]
 * @param {Record<string, string>} [provenance] header lines ##key=value
 */
export function vcfHeader({ contigs, samples, reference, infoFields }, options = {}, provenance = {}) {
  const { minQual, gvcf } = { ...OPTIONS, ...options };
  const least = general(Math.min(minQual, MAX_GQ));
  const rule = `QUAL is below ${general(minQual)}; where every genotype is the reference, the lowest GQ is below ${least}`;
  const lines = [
    "##fileformat=VCFv4.3",
    ...Object.entries(provenance).map(([key, value]) => `##${key}=${printable(value)}`),
    `##reference=${printable(reference)}`,
    '##FILTER=<ID=PASS,Description="All filters passed">',
    `##FILTER=<ID=LowQual,Description="${rule}">`,
    ...(gvcf ? gvcfHeader() : []),
    ...Array.from(contigs, ([name, length]) => `##contig=<ID=${name},length=${length}>`),
    ...COUNT_FIELDS,
    ...infoFields.map(
      ({ id, description }) => `##INFO=<ID=${id},Number=1,Type=Float,Description="${description}">`,
    ),
    ...FORMAT_FIELDS,
    ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", ...samples].join("\t"),
  ];
  return `${lines.join("\n")}\n`;
}

/** The header lines that only a gVCF has. */
function gvcfHeader() {
  const edges = [0, ...GQ_BANDS, MAX_GQ + 1];
  const bands = edges.slice(1).map((last, index) => {
    const first = edges[index];
    return `##GVCFBlock${first}-${last}=minGQ=${first}(inclusive),maxGQ=${last}(exclusive)`;
  });
  return [
    ...bands,
    '##ALT=<ID=NON_REF,Description="Any allele that is not the reference and not among those of the record">',
    '##INFO=<ID=END,Number=1,Type=Integer,Description="Last position of the block">',
    '##FORMAT=<ID=MIN_DP,Number=1,Type=Integer,Description="Lowest DP of the block">',
  ];
}

/** The lines above a table of likelihoods. Tables of GATK's model do not name it. @param {string} model */
export function tsvHeader(model) {
  return `${model === "gatk" ? "" : `##pairhmmModel=${model}\n`}#${COLUMNS.join("\t")}\n`;
}

/** The line above a table's companion, which describes the haplotypes. */
export function haplotypesHeader() {
  return `#${HAPLOTYPE_COLUMNS.join("\t")}\n`;
}

/** A number with six significant digits, as Python's `:.6g`. @param {number} value */
function general(value) {
  const rounded = Number(value.toPrecision(6));
  if (rounded === 0 || (Math.abs(rounded) >= 1e-4 && Math.abs(rounded) < 1e6)) return String(rounded);
  const [digits, exponent] = rounded.toExponential().split("e");
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}
