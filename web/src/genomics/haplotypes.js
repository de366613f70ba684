// Haplotypes of a region: the reference with combinations of the candidates' alleles (cpu/calling/haplotypes.cpp).

import { trimAllele } from "./regions.js";

/** @typedef {import("./regions.js").Region} Region */

/** Stands for the allele of a read whose alignment does not show it. */
export const UNKNOWN = -1;

/**
 * @typedef {object} Haplotype
 * @property {string} sequence
 * @property {number[]} alleles its allele at each of the region's candidates; 0 is the reference
 * @property {boolean} isNuisance whether every combination of alleles that spells it has a nuisance's allele
 */

/** Gives the allele of each candidate that each read carries: [reads][candidates], `UNKNOWN` where not shown. */
/** @typedef {(region: Region) => Int16Array} CarriedAlleles */

/** @typedef {{start: number, end: number, bases: string}} Edit reference bases [start, end) become `bases` */
/** @typedef {number[]} Combination an allele of each candidate */

/** Whether no haplotype can have both: they change the same bases, or insert at the same place. @param {Edit} one @param {Edit} other */
function conflict(one, other) {
  if (one.start === one.end || other.start === other.end) {
    const inside = Math.max(one.start, other.start) < Math.min(one.end, other.end);
    const samePlace = one.start === other.start && one.end === other.end;
    const within =
      (one.start < other.start && other.start < one.end) || (other.start < one.start && one.start < other.end);
    return inside || samePlace || within;
  }
  return one.start < other.end && other.start < one.end;
}

/** The edit of each alternative allele of each candidate. @param {Region} region @returns {Edit[][]} */
function editsOf(region) {
  return region.variants.map((variant) =>
    variant.alts.map((alt) => {
      const [head, refPart, bases] = trimAllele(variant.ref, alt);
      const start = variant.pos + head;
      return { start, end: start + refPart.length, bases };
    }),
  );
}

/** The reference, which begins at `offset`, after some edits that do not conflict. @param {string} reference @param {number} offset @param {Edit[]} edits */
function applied(reference, offset, edits) {
  let text = "";
  let position = offset;
  for (const edit of [...edits].sort((a, b) => a.start - b.start || a.end - b.end)) {
    text += reference.slice(position - offset, edit.start - offset) + edit.bases;
    position = edit.end;
  }
  return text + reference.slice(position - offset);
}

/**
 * Allele combinations without conflicts, at most `limit`, in lexicographic order.
 *
 * Combinations grow candidate by candidate. Whenever there are more than `limit`, only those that reads support best are
 * kept. The reference and each allele by itself are always kept.
 *
 * @param {Region} region
 * @param {Edit[][]} edits
 * @param {number} limit
 * @param {CarriedAlleles} carried
 */
function combinations(region, edits, limit, carried) {
  /** @type {Combination[]} */
  let prefixes = [[]];
  /** @type {Pattern[] | null} */
  let patterns = null;
  for (const [index, alternatives] of edits.entries()) {
    /** @type {Combination[]} */
    const extended = [];
    for (const prefix of prefixes) {
      const chosen = prefix.flatMap((allele, candidate) => (allele ? [edits[candidate][allele - 1]] : []));
      extended.push([...prefix, 0]);
      alternatives.forEach((edit, allele) => {
        if (!chosen.some((other) => conflict(edit, other))) extended.push([...prefix, allele + 1]);
      });
    }
    prefixes = extended;
    if (prefixes.length > limit) {
      patterns ??= patternsOf(carried(region), region.variants.length);
      prefixes = supported(prefixes, patterns, index + 1, limit);
    }
  }
  return prefixes.sort(inOrder);
}

/** @typedef {{alleles: Int16Array, reads: number}} Pattern alleles that so many reads carry */

/** The distinct rows of carried alleles. @param {Int16Array} shown @param {number} width @returns {Pattern[]} */
function patternsOf(shown, width) {
  /** @type {Map<string, Pattern>} */
  const patterns = new Map();
  for (let at = 0; at < shown.length; at += width) {
    const alleles = shown.subarray(at, at + width);
    const key = alleles.join();
    const known = patterns.get(key);
    if (known) known.reads++;
    else patterns.set(key, { alleles, reads: 1 });
  }
  return [...patterns.values()];
}

/**
 * The `limit` prefixes that reads support best, always with the reference and each allele by itself.
 *
 * @param {Combination[]} prefixes
 * @param {Pattern[]} patterns
 * @param {number} width candidates of the prefixes
 * @param {number} limit
 */
function supported(prefixes, patterns, width, limit) {
  const weights = patterns.map(({ alleles, reads }) => {
    return alleles.subarray(0, width).reduce((known, allele) => known + Number(allele !== UNKNOWN), 0) * reads;
  });
  const judged = prefixes.map((prefix) => {
    let support = 0;
    patterns.forEach(({ alleles }, index) => {
      if (prefix.every((allele, i) => alleles[i] === UNKNOWN || alleles[i] === allele)) support += weights[index];
    });
    return { prefix, support, changes: prefix.filter((allele) => allele !== 0).length };
  });
  judged.sort(
    (a, b) =>
      Number(a.changes > 1) - Number(b.changes > 1) ||
      b.support - a.support ||
      a.changes - b.changes ||
      inOrder(a.prefix, b.prefix),
  );
  const always = judged.filter(({ changes }) => changes <= 1).length;
  return judged.slice(0, Math.max(limit, always)).map(({ prefix }) => prefix);
}

/** @param {Combination} a @param {Combination} b */
function inOrder(a, b) {
  const at = a.findIndex((allele, index) => allele !== b[index]);
  return at < 0 ? 0 : a[at] - b[at];
}

/**
 * The haplotypes of a region: the reference first, those with a nuisance last. No two have the same sequence.
 *
 * @param {Region} region
 * @param {string} reference bases of [haplotypeStart, haplotypeEnd)
 * @param {number} maxHaplotypes the most combinations, unless there are more single alleles; those with a nuisance apart
 * @param {CarriedAlleles} carried called only where there are too many combinations
 * @returns {Haplotype[]}
 */
export function buildHaplotypes(region, reference, maxHaplotypes, carried) {
  const own = region.variants.flatMap((variant, number) => (variant.role === "nuisance" ? [] : [number]));
  if (own.length === region.variants.length) return spelled(region, reference, maxHaplotypes, carried);
  const without = {
    ...region,
    variants: own.map((number) => region.variants[number]),
    extents: own.map((number) => region.extents[number]),
  };
  const haplotypes = spelled(without, reference, maxHaplotypes, carried).map((haplotype) => {
    const alleles = region.variants.map(() => 0);
    own.forEach((column, index) => (alleles[column] = haplotype.alleles[index]));
    return { ...haplotype, alleles };
  });
  const known = new Set(haplotypes.map((haplotype) => haplotype.sequence));
  for (const haplotype of spelled(region, reference, maxHaplotypes, carried)) {
    if (!known.has(haplotype.sequence)) haplotypes.push({ ...haplotype, isNuisance: true });
  }
  return haplotypes;
}

/** @param {Region} region @param {string} reference @param {number} maxHaplotypes @param {CarriedAlleles} carried @returns {Haplotype[]} */
function spelled(region, reference, maxHaplotypes, carried) {
  const edits = editsOf(region);
  /** @type {Map<string, Combination[]>} */
  const members = new Map();
  for (const combination of combinations(region, edits, maxHaplotypes, carried)) {
    const chosen = combination.flatMap((allele, candidate) => (allele ? [edits[candidate][allele - 1]] : []));
    const sequence = applied(reference, region.haplotypeStart, chosen);
    const known = members.get(sequence);
    if (known) known.push(combination);
    else members.set(sequence, [combination]);
  }
  return [...members].map(([sequence, own]) => ({ sequence, alleles: mergedAlleles(own), isNuisance: false }));
}

/** The alleles of a haplotype that several combinations spell. @param {Combination[]} members */
function mergedAlleles(members) {
  if (members.length === 1) return members[0];
  const minimal = members.filter((one) => !members.some((other) => isContained(other, one)));
  return members[0].map((_, column) => minimal.map((one) => one[column]).find((allele) => allele) ?? 0);
}

/** Whether `inner` has some, but not all, of the alternative alleles of `outer`, and no other. @param {Combination} inner @param {Combination} outer */
function isContained(inner, outer) {
  return inOrder(inner, outer) !== 0 && inner.every((ours, index) => ours === 0 || ours === outer[index]);
}

/** Reads whose best haplotype is ahead of the next one by more than this (log10) are decided. */
export const INFORMATIVE = 0.2;

const IMPOSSIBLE = -1e9; // stands for a likelihood of zero

/**
 * The haplotype that a read is likeliest from, and how far (log10) it is ahead of the next one.
 *
 * @param {Float64Array} scores
 * @param {number} read
 */
export function choiceOf(scores, read) {
  if (scores.length < 2) return { read, haplotype: 0, margin: 0, decided: false };
  const known = Array.from(scores, (score) => (Number.isFinite(score) ? score : IMPOSSIBLE));
  const best = Math.max(...known);
  const haplotype = known.indexOf(best);
  const margin = best - Math.max(...known.filter((_, column) => column !== haplotype));
  return { read, haplotype, margin, decided: margin > INFORMATIVE };
}

/** @typedef {ReturnType<typeof choiceOf>} Choice */

/** The two likeliest haplotypes; of equal ones the first. @param {Float64Array} scores at least two @returns {[number, number]} */
export function twoBest(scores) {
  const order = Array.from(scores.keys()).sort((a, b) => {
    return (
      (Number.isFinite(scores[b]) ? scores[b] : -Infinity) - (Number.isFinite(scores[a]) ? scores[a] : -Infinity) ||
      a - b
    );
  });
  return [order[0], order[1]];
}
