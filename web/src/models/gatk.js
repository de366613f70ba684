// GATK's preparation of reads (pairhmm/models/gatk.py, cpu/calling/preparation.cpp).

import { NO_INDEL_QUALITY } from "../genomics/blocks.js";
import { CODE_OF_N } from "../letters.js";
import {
  LONGEST_REPEAT_UNIT,
  LOWEST_USABLE_BASE_QUALITY,
  MOST_REPEATS,
  PCR_QUALITIES,
  STR_TABLES,
} from "./parameters.js";

/** @typedef {import("../genomics/native.js").Native} Native */

/**
 * @typedef {object} GatkOptions
 * @property {number} insertionQuality Phred, of the opening of an insertion
 * @property {number} deletionQuality
 * @property {number} gapQuality Phred, of the continuation of either
 * @property {boolean} indelTags whether the indel qualities that reads have of their own are used (tags BI and BD)
 * @property {"none" | "hostile" | "aggressive" | "conservative"} pcrIndelModel how far indel qualities are lowered inside
 *   tandem repeats
 * @property {boolean} capByMappingQuality whether base qualities are lowered to the read's mapping quality
 * @property {number | null} baseQualityThreshold base qualities below this one become 6
 * @property {number | null} scoreFloor scores below the read's best score minus this (log10) are raised to it
 * @property {number | null} errorRate a read whose best score is below -4 min(2, ceil(errorRate m)) is set aside
 */

/**
 * Base qualities as both models take them.
 *
 * @param {Uint8Array} quality
 * @param {Uint32Array} offset where each read's bases begin
 * @param {ArrayLike<number>} mapq of each read
 * @param {GatkOptions} options
 */
export function preparedBaseQuality(quality, offset, mapq, options) {
  const threshold = options.baseQualityThreshold ?? 0;
  const prepared = new Uint8Array(quality.length);
  for (let read = 0; read < mapq.length; read++) {
    const most = options.capByMappingQuality ? mapq[read] : 255;
    for (let i = offset[read]; i < offset[read + 1]; i++) {
      const capped = Math.min(quality[i], most);
      prepared[i] = capped < threshold ? LOWEST_USABLE_BASE_QUALITY : capped;
    }
  }
  return prepared;
}

/** How many bases had their quality lowered to 6, or have it. @param {Uint8Array} prepared @param {GatkOptions} options */
export function countLowered(prepared, options) {
  if (options.baseQualityThreshold === null) return 0;
  let count = 0;
  for (let i = 0; i < prepared.length; i++) if (prepared[i] === LOWEST_USABLE_BASE_QUALITY) count++;
  return count;
}

/** A read's codes with every ambiguous letter as N. @param {Uint8Array} codes */
export function asN(codes) {
  const letters = codes.slice();
  for (let i = 0; i < letters.length; i++) if (letters[i] > CODE_OF_N) letters[i] = CODE_OF_N;
  return letters;
}

/**
 * Indel qualities of reads end to end. What reads have of their own is at least 6.
 *
 * @param {Native} native
 * @param {{offset: Uint32Array, insertion: Uint8Array, deletion: Uint8Array}} reads with their own qualities, or none
 * @param {Uint8Array} bases codes 0 to 4
 * @param {GatkOptions} options
 * @param {StrModel | null} strModel in place of the qualities of the options
 */
export function indelQualities(native, reads, bases, options, strModel) {
  if (strModel) {
    const { insertion, deletion, gap } = strModel.qualities(native, reads.offset, bases);
    return { insertion: loweredTo(reads.insertion, insertion), deletion: loweredTo(reads.deletion, deletion), gap };
  }
  const insertion = own(reads.insertion, bases.length, options.insertionQuality);
  const deletion = own(reads.deletion, bases.length, options.deletionQuality);
  const gap = new Uint8Array(bases.length).fill(options.gapQuality);
  if (options.pcrIndelModel === "none") return { insertion, deletion, gap };
  const table = Uint8Array.from(PCR_QUALITIES[options.pcrIndelModel]);
  return { ...cappedByRepeats(native, reads.offset, bases, table, insertion, deletion), gap };
}

/** The reads' own qualities, and one quality for reads without. @param {Uint8Array} given @param {number} size @param {number} quality */
function own(given, size, quality) {
  if (!given.length) return new Uint8Array(size).fill(quality);
  return given.map((one) => (one === NO_INDEL_QUALITY ? quality : Math.max(one, LOWEST_USABLE_BASE_QUALITY)));
}

/** Qualities of a table, lowered to the reads' own ones. @param {Uint8Array} given @param {Uint8Array} qualities */
function loweredTo(given, qualities) {
  if (!given.length) return qualities;
  return qualities.map((one, base) => Math.min(one, Math.max(given[base], LOWEST_USABLE_BASE_QUALITY)));
}

/**
 * Qualities lowered in tandem repeats to those of a table by the copies.
 *
 * @param {Native} native
 * @param {Uint32Array} offset
 * @param {Uint8Array} bases
 * @param {Uint8Array} table highest quality by 0, 1, ... copies
 * @param {Uint8Array} insertion
 * @param {Uint8Array} deletion
 */
function cappedByRepeats(native, offset, bases, table, insertion, deletion) {
  return native.with((arrays) => {
    const [inserted, deleted] = [arrays.pass(insertion), arrays.pass(deletion)];
    native.call.cap_indel_qualities(
      offset.length - 1,
      arrays.pass(offset),
      arrays.pass(bases),
      arrays.pass(table),
      table.length - 1,
      LONGEST_REPEAT_UNIT,
      inserted,
      deleted,
    );
    return {
      insertion: arrays.read(Uint8Array, inserted, bases.length),
      deletion: arrays.read(Uint8Array, deleted, bases.length),
    };
  });
}

/**
 * Whether each read fits none of the haplotypes.
 *
 * @param {Float64Array} best the best score of each read
 * @param {ArrayLike<number>} lengths bases of each read
 * @param {GatkOptions} options
 * @returns {Uint8Array} 1 where a read is set aside
 */
export function setAside(best, lengths, { errorRate }) {
  return Uint8Array.from(best, (score, read) => {
    if (errorRate === null) return 0;
    return Number(score < -4 * Math.min(2, Math.ceil(lengths[read] * errorRate)));
  });
}

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
