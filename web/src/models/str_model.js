// Gap qualities by the unit and the copies of the tandem repeat at a base: STR tables (pairhmm/models/str_model.py), and
// those that are built in (pairhmm/models/str_parameters.py).

import { LONGEST_REPEAT_UNIT, MOST_REPEATS, STR_TABLES } from "./parameters.js";

/** @typedef {import("../genomics/native.js").Native} Native */

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

/** The built-in model of a library. @param {"pcr-free" | "pcr"} name */
export function builtInStrModel(name) {
  const { insertion, deletion, gap } = STR_TABLES[name];
  return new StrModel(Uint8Array.from(insertion), Uint8Array.from(deletion), Uint8Array.from(gap), name);
}
