// Calls as the text of VCF (pairhmm/variants/call_writer.py, cpu/calling/records.cpp).

import { printable } from "../files/names.js";
import { sum } from "../genomics/arrays.js";
import { MAX_GQ } from "../genomics/genotypes.js";
import { MANY_UNFIT } from "./announcements.js";
import { BlockLines, NON_REF, gvcfHeader } from "./gvcf.js";
import { CALL_OPTIONS } from "./options.js";

/** @typedef {import("./events.js").CalledSite} CalledSite */

const COUNT_FIELDS = [
  '##INFO=<ID=AC,Number=A,Type=Integer,Description="Copies of each alternate allele in the genotypes">',
  '##INFO=<ID=AF,Number=A,Type=Float,Description="Share of each alternate allele in the genotypes">',
  '##INFO=<ID=AN,Number=1,Type=Integer,Description="Alleles in the genotypes">',
  '##INFO=<ID=DP,Number=1,Type=Integer,Description="Reads used, over all samples">',
];

const NO_FIT = {
  id: "NOFIT",
  decimals: 3,
  description: `Share of the reads over the site that fit no haplotype, where it is ${MANY_UNFIT} or more`,
};
const BY_DEPTH = { id: "QD", decimals: 2, description: "QUAL divided by the depth of the samples with the variant" };

const FORMAT_FIELDS = [
  '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">',
  '##FORMAT=<ID=AD,Number=R,Type=Integer,Description="Informative reads of each allele">',
  '##FORMAT=<ID=DP,Number=1,Type=Integer,Description="Reads used, both mates of a pair counted">',
  '##FORMAT=<ID=GQ,Number=1,Type=Integer,Description="Phred-scaled probability that the genotype is wrong">',
  '##FORMAT=<ID=PL,Number=G,Type=Integer,Description="Phred-scaled genotype likelihoods, the best is 0">',
  '##FORMAT=<ID=PS,Number=1,Type=Integer,Description="Phase set: POS of its first record">',
  '##FORMAT=<ID=SB,Number=4,Type=Integer,Description="Informative reads by strand: reference forward and reverse, alternate forward and reverse">',
];

/**
 * The header of a VCF, with the line end behind it.
 *
 * @param {import("./events.js").BeginEvent} begin
 * @param {{minQual?: number, gvcf?: boolean}} [options]
 * @param {Record<string, string>} [provenance] header lines ##key=value
 */
export function vcfHeader({ contigs, samples, reference, annotations }, options = {}, provenance = {}) {
  const { minQual, gvcf } = { ...CALL_OPTIONS, ...options };
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
    ...[...annotations, NO_FIT, BY_DEPTH]
      .sort(byId)
      .map(({ id, description }) => `##INFO=<ID=${id},Number=1,Type=Float,Description="${description}">`),
    ...FORMAT_FIELDS,
    ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", ...samples].join("\t"),
  ];
  return `${lines.join("\n")}\n`;
}

/** The lines of a run's records, and of the blocks between them, from its events in order. */
export class RecordLines {
  constructor() {
    this.blocks = new BlockLines();
  }

  /** The lines that an event completes. @param {import("./events.js").RunEvent} event */
  of(event) {
    if (event.kind === "blocks") return this.blocks.of(event.blocks) + this.blocks.rest();
    if (event.kind !== "region") return "";
    return event.sites.map((site) => this.blocks.of(site.before) + this.blocks.rest() + vcfLine(site)).join("");
  }
}

/** A record, as a line of VCF with its end. @param {CalledSite} site */
function vcfLine(site) {
  const { chrom, pos, id, ref, quality, filter, calls } = site;
  const isGvcf = calls.some((call) => call.withOthers !== undefined);
  const alts = isGvcf ? [...site.alts, NON_REF] : site.alts;
  const hasPhase = calls.some((call) => call.phased !== null);
  const format = `GT:AD:DP:GQ:PL${hasPhase ? ":PS" : ""}:SB`;
  const text = info({ ...site, alts });
  const record = [chrom, pos + 1, id || ".", ref, alts.join(), quality.toFixed(2), filter, text, format];
  return `${[...record, ...calls.map((call) => sampleColumn(call, hasPhase))].join("\t")}\n`;
}

/** INFO of a record: what is not known is left out. @param {CalledSite} site */
function info({ alts, quality, calls, statistics }) {
  const called = calls.flatMap((call) => call.alleles.filter((allele) => allele !== null));
  const copies = alts.map((_, index) => called.filter((allele) => allele === index + 1).length);
  const shares = copies.map((count) => (called.length ? general(count / called.length) : "."));
  const withVariant = calls.filter((call) => call.alleles.some((allele) => allele));
  const depth = sum(withVariant.map((call) => sum(call.depths) || call.depth));
  const { annotations, unfit } = statistics;
  const values = [
    ...annotations,
    { ...NO_FIT, value: unfit >= MANY_UNFIT ? unfit : NaN },
    { ...BY_DEPTH, value: depth ? quality / depth : NaN },
  ];
  const known = values.filter(({ value }) => !Number.isNaN(value)).sort(byId);
  return [
    `AC=${copies.join()};AF=${shares.join()};AN=${called.length};DP=${sum(calls.map((call) => call.depth))}`,
    ...known.map(({ id, decimals, value }) => `${id}=${value.toFixed(decimals)}`),
  ].join(";");
}

/** @param {{id: string}} one @param {{id: string}} other */
function byId(one, other) {
  return one.id < other.id ? -1 : 1;
}

/** @param {import("./events.js").Call} call @param {boolean} hasPhase */
function sampleColumn(call, hasPhase) {
  const { alleles, depth, quality, withOthers, strands, phased, phaseSet } = call;
  const likelihoods = withOthers ?? call.likelihoods;
  const depths = withOthers ? [...call.depths, 0] : call.depths;
  const genotype = phased ? phased.join("|") : alleles.map((allele) => allele ?? ".").join("/");
  const sure = alleles.includes(null) ? ".:." : `${quality}:${likelihoods.join() || "."}`;
  const phase = hasPhase ? `:${phaseSet === null ? "." : phaseSet + 1}` : "";
  return `${genotype}:${depths.join()}:${depth}:${sure}${phase}:${strands.join()}`;
}

/** A number with six significant digits, as Python's `:.6g`. @param {number} value */
function general(value) {
  const rounded = Number(value.toPrecision(6));
  if (rounded === 0 || (Math.abs(rounded) >= 1e-4 && Math.abs(rounded) < 1e6)) return String(rounded);
  const [digits, exponent] = rounded.toExponential().split("e");
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}
