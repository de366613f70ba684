// Gap qualities by the unit and the copies of the tandem repeat at a base: STR tables (pairhmm/models/str_model.py), and
// those that are built in (pairhmm/models/str_parameters.py).

/** @typedef {import("../genomics/native.js").Native} Native */

export const LONGEST_REPEAT_UNIT = 8;
export const MOST_REPEATS = 20;
const [QUALITY, GAP_QUALITY] = [45, 10]; // where there is no repeat
const LEAST_COPIES = [4, 3, 3, 3, 3, 3, 3, 3];
const FIRST_RATES = [2e-4, 1.8e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4];
const GROWTHS = [1.65, 1.6, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5];
const FACTORS = { "pcr-free": 1, pcr: 5 };
const LOSS_SHARE = 0.7;
const HIGHEST_RATE = 0.4;
const LOWEST_QUALITY = 3;

/**
 * Phred qualities of gaps by the tandem repeat at a base: rows of units of 1 to 8 bases, end to end, with a number for 1
 * (no repeat), 2, ... 20 copies.
 */
export class StrModel {
  /** @param {Uint8Array} insertion @param {Uint8Array} deletion @param {Uint8Array} gap @param {string} name */
  constructor(insertion, deletion, gap, name) {
    this.insertion = insertion;
    this.deletion = deletion;
    this.gap = gap;
    this.name = name;
  }

  /**
   * The qualities of reads end to end.
   *
   * @param {Native} native
   * @param {Uint32Array} offset
   * @param {Uint8Array} bases codes 0 to 4
   */
  qualities(native, offset, bases) {
    const kinds = native.with((arrays) => {
      const kind = arrays.room(bases.length);
      const [reads, own] = [arrays.pass(offset), arrays.pass(bases)];
      native.call.classify_repeats(offset.length - 1, reads, own, MOST_REPEATS, LONGEST_REPEAT_UNIT, kind);
      return arrays.read(Uint8Array, kind, bases.length);
    });
    /** @param {Uint8Array} table */
    const of = (table) => kinds.map((kind) => table[kind]);
    return { insertion: of(this.insertion), deletion: of(this.deletion), gap: of(this.gap) };
  }
}

/** As Python rounds. @param {number} value */
export function roundHalfEven(value) {
  return Math.abs(value % 1) === 0.5 ? 2 * Math.round(value / 2) : Math.round(value);
}

/** The built-in model of a library. @param {keyof typeof FACTORS} name */
export function builtInStrModel(name) {
  const [insertion, deletion] = [0, 0].map(() => new Uint8Array(LONGEST_REPEAT_UNIT * MOST_REPEATS).fill(QUALITY));
  const gap = new Uint8Array(LONGEST_REPEAT_UNIT * MOST_REPEATS).fill(GAP_QUALITY);
  for (let unit = 1; unit <= LONGEST_REPEAT_UNIT; unit++) {
    const [row, least] = [unit - 1, LEAST_COPIES[unit - 1]];
    const further = Math.max(1, roundHalfEven(GAP_QUALITY / unit));
    const continued = 10 ** (-further / 10);
    /** @param {number} copies */
    const rate = (copies) => {
      if (copies < least) return 0;
      return Math.min(HIGHEST_RATE, FACTORS[name] * FIRST_RATES[row] * GROWTHS[row] ** (copies - least));
    };
    for (let copies = least; copies <= MOST_REPEATS; copies++) {
      const places = unit === 1 ? copies : Math.max(1, (copies - 2) * unit + 1);
      const through = places * continued ** (unit - 1) * (1 - continued);
      /** @param {number} changed */
      const opening = (changed) => {
        const quality = roundHalfEven(-10 * Math.log10(Math.max(changed / through, 1e-12)));
        return Math.min(QUALITY, Math.max(LOWEST_QUALITY, quality));
      };
      const at = row * MOST_REPEATS + copies - 1;
      if (copies > least) insertion[at] = opening((1 - LOSS_SHARE) * rate(copies - 1));
      deletion[at] = opening(LOSS_SHARE * rate(Math.min(copies + 1, MOST_REPEATS)));
      if (insertion[at] < QUALITY || deletion[at] < QUALITY) gap[at] = further;
    }
  }
  return new StrModel(insertion, deletion, gap, name);
}
