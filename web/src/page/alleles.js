// Alleles of sites and of a region's haplotypes (pairhmm/variants/sites.py, variant.py).

/** @typedef {import("../call/events.js").RegionEvent} RegionEvent */
/** @typedef {import("../call/events.js").CalledSite} CalledSite */

/**
 * REF and ALT without the letters that both end with, as `trim_allele` does; one letter of each stays.
 *
 * @param {string} ref
 * @param {string} alt
 * @returns {[string, string]}
 */
export function trimmed(ref, alt) {
  let common = 0;
  const most = Math.min(ref.length, alt.length) - 1;
  while (common < most && ref.at(-1 - common) === alt.at(-1 - common)) common++;
  return [ref.slice(0, ref.length - common), alt.slice(0, alt.length - common)];
}

const isSpelled = (/** @type {string} */ alt) => /^[ACGTN]+$/i.test(alt);

/** SNV, MNV, insertion, deletion or mixed; other where every allele is symbolic. @param {CalledSite} site */
export function kindOfSite({ ref, alts }) {
  const kinds = new Set(alts.filter(isSpelled).map((alt) => kindOfAllele(ref, alt)));
  if (kinds.size === 1) return [...kinds][0];
  return kinds.size ? "mixed" : "other";
}

/** @param {string} ref @param {string} alt */
function kindOfAllele(ref, alt) {
  if (ref.length === alt.length) return ref.length === 1 ? "SNV" : "MNV";
  return alt.length > ref.length ? "insertion" : "deletion";
}

/**
 * The allele of a site that each haplotype carries; -1 for one that the site does not have. Null where no variant of
 * the region is this site.
 *
 * @param {CalledSite} site
 * @param {RegionEvent["variants"]} variants
 * @param {RegionEvent["haplotypes"]} haplotypes
 * @returns {number[] | null}
 */
export function siteAlleles(site, variants, haplotypes) {
  const own = new Map(
    site.alts.flatMap((alt, index) => (isSpelled(alt) ? [[trimmed(site.ref, alt).join(">"), index + 1]] : [])),
  );
  let best = null;
  let mostKnown = 0;
  variants.forEach(({ pos, ref, alts }, index) => {
    if (pos !== site.pos) return;
    const names = [0, ...alts.map((alt) => own.get(trimmed(ref, alt).join(">")) ?? -1)];
    const known = names.filter((name) => name > 0).length;
    if (known > mostKnown) {
      mostKnown = known;
      best = haplotypes.map(({ alleles }) => names[alleles[index]]);
    }
  });
  return best;
}

/**
 * Differences of a haplotype from the reference: 0-based position, reference bases, haplotype bases.
 *
 * @param {{alleles: number[]}} haplotype
 * @param {RegionEvent["variants"]} variants
 * @returns {[number, string, string][]}
 */
export function differencesOf({ alleles }, variants) {
  return variants.flatMap(({ pos, ref, alts }, index) => {
    const allele = alleles[index];
    return allele > 0 ? [/** @type {[number, string, string]} */ ([pos, ...trimmed(ref, alts[allele - 1])])] : [];
  });
}
