// Alleles of sites and of a region's haplotypes (pairhmm/variants/sites.py, variant.py).

/** @typedef {{pos: number, ref: string, alts: string[]}} Variant 0-based */

/**
 * REF and ALT without the letters that both end with, as `trim_allele` does; one letter of each stays.
 *
 * @param {string} ref
 * @param {string} alt
 * @returns {[string, string]}
 */
function trimmed(ref, alt) {
  let common = 0;
  const most = Math.min(ref.length, alt.length) - 1;
  while (common < most && ref.at(-1 - common) === alt.at(-1 - common)) common++;
  return [ref.slice(0, ref.length - common), alt.slice(0, alt.length - common)];
}

const isSpelled = (/** @type {string} */ alt) => /^[ACGTN]+$/i.test(alt);

/** SNV, MNV, insertion, deletion or mixed; other where every allele is symbolic. @param {string} ref @param {string[]} alts */
export function kindOfSite(ref, alts) {
  const kinds = new Set(alts.filter(isSpelled).map((alt) => kindOfAllele(ref, alt)));
  if (kinds.size === 1) return [...kinds][0];
  return kinds.size ? "mixed" : "other";
}

/** @param {string} ref @param {string} alt */
function kindOfAllele(ref, alt) {
  if (ref.length === alt.length) return ref.length === 1 ? "SNV" : "MNV";
  return alt.length > ref.length ? "insertion" : "deletion";
}

/** The variants of a region, as the table of haplotypes writes them. @param {string} text @returns {Variant[]} */
export function variantsOf(text) {
  if (text === ".") return [];
  return text.split(",").map((one) => {
    const [pos, ref, alts] = one.split(/[:>]/);
    return { pos: Number(pos) - 1, ref, alts: alts.split("/") };
  });
}

/** A haplotype's allele of each variant, as that table writes them. @param {string} text */
export const allelesOf = (text) => (text === "." ? [] : text.split(",").map(Number));

/**
 * The allele of a site that each haplotype carries; -1 for one that the site does not have. Null where no variant of
 * the region is this site.
 *
 * @param {string[]} site fields of its record
 * @param {import("./panels.js").Panel} panel
 * @returns {number[] | null}
 */
export function siteAlleles([, pos, , ref, alts], panel) {
  const own = new Map(
    alts.split(",").flatMap((alt, index) => (isSpelled(alt) ? [[trimmed(ref, alt).join(">"), index + 1]] : [])),
  );
  let best = null;
  let mostKnown = 0;
  variantsOf(panel.variants).forEach((variant, index) => {
    if (variant.pos !== Number(pos) - 1) return;
    const names = [0, ...variant.alts.map((alt) => own.get(trimmed(variant.ref, alt).join(">")) ?? -1)];
    const known = names.filter((name) => name > 0).length;
    if (known > mostKnown) {
      mostKnown = known;
      best = panel.haplotypes.map(({ alleles }) => names[allelesOf(alleles)[index]]);
    }
  });
  return best;
}

/**
 * Differences of a haplotype from the reference: 0-based position, reference bases, haplotype bases.
 *
 * @param {number[]} alleles
 * @param {Variant[]} variants
 * @returns {[number, string, string][]}
 */
export function differencesOf(alleles, variants) {
  return variants.flatMap(({ pos, ref, alts }, index) => {
    const allele = alleles[index];
    return allele > 0 ? [/** @type {[number, string, string]} */ ([pos, ...trimmed(ref, alts[allele - 1])])] : [];
  });
}
