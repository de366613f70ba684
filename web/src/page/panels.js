// A region's panel, as the report has it (pairhmm/report/panels.py): likelihoods in 1/100 of a log10, reads in order.

import { encode } from "../letters.js";
import { INFORMATIVE } from "../models/parameters.js";
import { allelesOf, differencesOf, variantsOf } from "./alleles.js";
import { choiceOf, uncertainReads } from "./choices.js";

/** @import { RegionEvent } from "../call/events.js" */
/** @import { Choice, UncertainRead } from "./choices.js" */

export const CONSTANTS = {
  perLog10: 100,
  impossible: 2 ** 16 - 1,
  unknownBest: -(2 ** 31),
  informative: INFORMATIVE,
  precisions: ["float32", "float64", "scaled float32"],
};
const READS_SHOWN = 250; // of a sample; of more reads every n-th is shown
const IS_ALIGNED = 0x4;
const IS_REVERSE = 0x8;
const [PAIRED, REVERSE, FIRST, SECOND] = [0x1, 0x10, 0x40, 0x80]; // SAM flags
const PRECISION_SHIFT = 4;

/** @typedef {ReturnType<typeof panelOf>} Panel */

/** @param {RegionEvent} event */
export function panelOf(event) {
  const rows = event.haplotypes
    .trimEnd()
    .split("\n")
    .map((row) => row.split("\t"));
  const [chrom, start, end, first, reference, , variants] = rows[0];
  const [from, to] = (/:(\d+)-(\d+)\/0$/.exec(first) ?? []).slice(1).map(Number);
  const samples = [...new Set(event.sample)].sort((a, b) => a - b);
  const uncertain = uncertainReads(event);
  const letters = rows.map((row) => encode(row[4]));
  return {
    ...{ chrom, start: Number(start), end: Number(end) },
    table: 0,
    origin: from - 1,
    ...(to < from ? { circle: from - 1 + reference.length - to } : {}),
    reference,
    parameters: event.parameters,
    variants,
    haplotypes: rows.map(([, , , name, , alleles]) => {
      return { name, alleles, differences: differencesOf(allelesOf(alleles), variantsOf(variants)) };
    }),
    groups: samples.map((sample) => groupOf(event, letters, uncertain, sample)),
  };
}

/** Bytes that a panel holds, about. @param {Panel} panel */
export function sizeOf(panel) {
  const text = panel.reference.length + panel.variants.length + 100 * panel.haplotypes.length;
  const groups = panel.groups.map(({ names, shown, unexplained }) => {
    const reads = unexplained.reduce((sum, { bases, letters }) => sum + 6 * bases.length + 2 * letters[0].length, 0);
    return names.length + shown * (6 + 2 * panel.haplotypes.length) + reads;
  });
  return groups.reduce((sum, size) => sum + size, text);
}

/** @param {RegionEvent} event @param {Uint8Array[]} haplotypes codes @param {UncertainRead[]} uncertain @param {number} sample */
function groupOf({ log10, precision, ...reads }, haplotypes, uncertain, sample) {
  const width = haplotypes.length;
  const own = Array.from(reads.sample.keys()).filter((read) => reads.sample[read] === sample);
  const names = reads.names.split("\n");
  const scores = (/** @type {number} */ read) => log10.subarray(read * width, (read + 1) * width);
  const choices = own.map((read) => choiceOf(scores(read), read));
  const shown = evenly(choices.toSorted(byChoice), READS_SHOWN).map(({ read }) => read);
  const sums = Array.from({ length: width }, (_, column) =>
    rounded(own.reduce((sum, read) => sum + log10[read * width + column], 0)),
  );
  const best = Int32Array.from(shown, (read) => quantisedBest(scores(read)));
  const behind = new Uint16Array(shown.length * width);
  shown.forEach((read, row) => {
    const top = Math.max(...scores(read));
    scores(read).forEach((score, column) => (behind[column * shown.length + row] = quantisedBehind(top, score)));
  });
  return {
    sample,
    reads: own.length,
    shown: shown.length,
    sums,
    chosen: sums.map((_, column) => choices.filter((one) => one.decided && one.haplotype === column).length),
    undecided: choices.filter((one) => !one.decided).length,
    names: shown.map((read) => names[read]).join("\n"),
    unexplained: uncertain.flatMap((one) => {
      const row = shown.indexOf(one.read);
      /** @type {[Uint8Array, Uint8Array]} */
      const letters = [haplotypes[one.best], haplotypes[one.second]];
      return row < 0 ? [] : [{ ...one, read: row, letters }];
    }),
    best,
    behind, // haplotype after haplotype
    flags: Uint8Array.from(shown, (read) =>
      flagsOf(reads.flag[read], precision.subarray(read * width, (read + 1) * width)),
    ),
    quality: Uint8Array.from(shown, (read) => reads.mapq[read]),
  };
}

/** The decided first, in order of their haplotype, the clearest on top. @param {Choice} a @param {Choice} b */
function byChoice(a, b) {
  return Number(b.decided) - Number(a.decided) || a.haplotype - b.haplotype || b.margin - a.margin;
}

/**
 * At most so many of a list, at even steps from its first to its last.
 *
 * @template T
 * @param {T[]} all
 * @param {number} most
 */
function evenly(all, most) {
  if (all.length <= most) return all;
  return Array.from({ length: most }, (_, index) => all[Math.floor((index * (all.length - 1)) / (most - 1))]);
}

/** @param {number} sum */
const rounded = (sum) => (Number.isFinite(sum) ? Math.round(100 * sum) / 100 : null);

/** @param {Float64Array} scores */
function quantisedBest(scores) {
  const top = Math.max(...scores);
  return Number.isFinite(top) ? Math.round(top * CONSTANTS.perLog10) : CONSTANTS.unknownBest;
}

/** @param {number} top @param {number} score */
function quantisedBehind(top, score) {
  if (!Number.isFinite(score)) return CONSTANTS.impossible;
  return Math.min(CONSTANTS.impossible, Math.round((top - score) * CONSTANTS.perLog10));
}

/** @param {number} flag @param {Uint8Array} precision */
function flagsOf(flag, precision) {
  const isReverse = flag & REVERSE ? IS_REVERSE : 0;
  return mateOf(flag) | IS_ALIGNED | isReverse | (Math.max(...precision) << PRECISION_SHIFT);
}

/** 1 or 2 for the first or second read of a pair; 0 for a read without a mate. @param {number} flag */
function mateOf(flag) {
  if (!(flag & PAIRED)) return 0;
  return flag & FIRST ? 1 : flag & SECOND ? 2 : 0;
}
