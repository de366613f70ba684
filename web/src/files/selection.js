// Which alignments are left out, and why (pairhmm/alignments/selection.py).

import { InputProblem } from "./problem.js";

/** Bases to the next wanted interval from which on the index is used to jump there. */
export const JUMP = 200_000;

const [LOW_MAPQ, OTHER_FLAG, EMPTY] = ["low mapping quality", "with another excluded flag", "without bases"];
const [NOWHERE, OUTSIDE] = ["mapped to no place", "beyond their contig's end"];
export const ELSEWHERE = "on contigs that the reference lacks";
/** In the order in which the parser counts them. */
export const REASONS = [
  ...["unmapped", "secondary", "QC-fail", "duplicate", "supplementary", OTHER_FLAG, LOW_MAPQ],
  ...[NOWHERE, ELSEWHERE, EMPTY, OUTSIDE],
];
const FAULTS = [EMPTY, NOWHERE, OUTSIDE, ELSEWHERE];
const BY_FLAG = ["secondary", "QC-fail", "duplicate", "supplementary", OTHER_FLAG];

/** The reads of all inputs that are left out. */
export class LeftOut {
  constructor() {
    /** @type {Map<string, number>} */
    this.counts = new Map();
    /** Of reads on contigs with primers: those that begin in none, and those that begin in one. */
    this.begun = [0, 0];
    this.hasMet = this.hasUsed = false;
  }

  /** @param {string} reason @param {number} count */
  add(reason, count) {
    if (count) this.counts.set(reason, (this.counts.get(reason) ?? 0) + count);
  }

  /** @param {ArrayLike<number>} counts */
  addBegun(counts) {
    this.begun = this.begun.map((count, at) => count + counts[at]);
  }

  /**
   * Announces the counts, once all reads were read.
   *
   * @param {string} paths
   * @param {boolean} isWhole whether the inputs were read as a whole
   * @param {(text: string) => void} tell
   * @param {(text: string) => void} warn
   */
  conclude(paths, isWhole, tell, warn) {
    const elsewhere = this.counts.get(ELSEWHERE);
    if (!this.hasMet && elsewhere && isWhole) {
      const rule = `no read on a contig that the reference has, ${elsewhere} on others`;
      throw new InputProblem(paths, "", rule, "use the reference that the reads were aligned to");
    }
    this.#announce(tell, warn);
    this.#announcePrimers(tell, warn);
  }

  /** @param {(text: string) => void} tell @param {(text: string) => void} warn */
  #announcePrimers(tell, warn) {
    const [others, primed] = this.begun;
    const reads = others + primed;
    const share = ((100 * primed) / reads).toFixed(1);
    if (primed) tell(`${primed} of ${reads} reads (${share}%) begin in a primer; the others are kept`);
    else if (reads) {
      warn(`none of ${reads} reads begins in a primer: is --primers of another scheme, or are they cut off?`);
    }
  }

  /** @param {(text: string) => void} tell @param {(text: string) => void} warn */
  #announce(tell, warn) {
    if (!this.counts.size) return;
    const counts = [...this.counts].sort(([a], [b]) => (a < b ? -1 : 1));
    if (!this.hasUsed) {
      const all = counts.map(([reason, count]) => `${count} ${reason}${optionOf(reason)}`);
      return warn(`no read is used; reads left out: ${all.join(", ")}`);
    }
    const said = counts.map(([reason, count]) => `${count} ${reason}`);
    const isFault = FAULTS.some((reason) => this.counts.has(reason));
    (isFault ? warn : tell)(`reads left out: ${said.join(", ")}`);
  }
}

/** The option that decides on reads of a reason, behind it. @param {string} reason */
function optionOf(reason) {
  if (reason === LOW_MAPQ) return " (--min-mapq)";
  return BY_FLAG.includes(reason) ? " (--exclude-flags)" : "";
}
