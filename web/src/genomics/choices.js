// The haplotype that a read is likeliest from (pairhmm/report/panels.py).

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
