// Phases the heterozygous sites of a region (pairhmm/calling/phasing.py). The sums are C++ (cpu/calling/phasing.cpp).

/** @typedef {import("./genotypes.js").SampleGenotype} SampleGenotype */
/** @typedef {import("./native.js").Native} Native */

/**
 * The genotypes of one sample at the sites of a region, with their phase.
 *
 * @param {Native} native
 * @param {number[]} positions of each site, in order
 * @param {number[]} reads a SiteReads of each site
 * @param {SampleGenotype[]} genotypes the sample's at each site
 * @param {number} sample
 * @returns {SampleGenotype[]}
 */
export function phased(native, positions, reads, genotypes, sample) {
  const sites = genotypes.flatMap(({ alleles }, site) =>
    alleles?.length === 2 && alleles[0] !== alleles[1] ? [{ site, alleles }] : [],
  );
  if (sites.length < 2) return genotypes;
  const phaser = native.call.phaser_make();
  const places = sites.map(({ site, alleles }) => {
    const place = native.call.phaser_add(phaser, reads[site], sample, alleles[0], alleles[1]);
    return { site, alleles, set: place >> 1, swapped: (place & 1) === 1 };
  });
  native.call.phaser_free(phaser);
  const result = [...genotypes];
  /** @type {Map<number, number>} */
  const starts = new Map();
  for (const { site, alleles, set, swapped } of places) {
    if (places.filter((other) => other.set === set).length < 2) continue;
    const phaseSet = starts.get(set) ?? positions[site];
    starts.set(set, phaseSet);
    // PS is a position: of two sets that begin at one place, the second can't be told apart.
    if ([...starts].some(([other, start]) => other < set && start === phaseSet)) continue;
    result[site] = { ...result[site], phased: swapped ? [alleles[1], alleles[0]] : alleles, phaseSet };
  }
  return result;
}
