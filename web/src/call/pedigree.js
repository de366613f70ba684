// Families among the samples of a run (pairhmm/variants/pedigree.py).

/** @typedef {{father: number, mother: number, children: number[]}} SampleFamily indices of samples */

/**
 * The families whose parents and children are among the samples. They may share members, but close no loop: there the
 * later family is left out.
 *
 * @param {Map<string, [string, string]>} parents father and mother of each child; empty where not known
 * @param {string[]} samples
 * @returns {{families: SampleFamily[], leftOut: string[]}} with the children of families that are left out
 */
export function familiesOf(parents, samples) {
  const index = new Map(samples.map((name, number) => [name, number]));
  /** @type {Map<string, SampleFamily>} */
  const ofParents = new Map();
  for (const [name, both] of parents) {
    const [child, father, mother] = [name, ...both].map((one) => index.get(one));
    if (child === undefined || father === undefined || mother === undefined) continue;
    const key = `${father},${mother}`;
    const family = ofParents.get(key) ?? { father, mother, children: [] };
    ofParents.set(key, { ...family, children: [...family.children, child] });
  }
  const head = samples.map((_, number) => number);
  /** The first member of those that families connect with this one. @param {number} member */
  const headOf = (member) => {
    while (head[member] !== member) member = head[member];
    return member;
  };
  /** @type {SampleFamily[]} */
  const families = [];
  /** @type {string[]} */
  const leftOut = [];
  for (const family of ofParents.values()) {
    const members = [family.father, family.mother, ...family.children];
    const heads = new Set(members.map(headOf));
    if (heads.size < members.length) leftOut.push(...family.children.map((child) => samples[child]));
    else {
      families.push(family);
      for (const one of heads) head[one] = Math.min(...heads);
    }
  }
  return { families, leftOut };
}
