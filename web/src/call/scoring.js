// Prepares cut reads as GATK does, as a batch for the engine (cpu/calling/preparation.cpp).

import { joined, offsets } from "../genomics/arrays.js";
import { NO_INDEL_QUALITY } from "../genomics/blocks.js";
import { asN, countLowered, indelQualities, preparedBaseQuality } from "../models/gatk.js";
import { PROFILES } from "../models/parameters.js";
import { ProfileModel } from "../models/profile.js";

/** @typedef {import("../batch.js").Batch} Batch */
/** @typedef {import("../genomics/native.js").Native} Native */
/** @typedef {import("../models/gatk.js").StrModel} StrModel */
/** @typedef {import("./options.js").CallOptions} CallOptions */

/**
 * Reads that are cut to their regions, region after region, as flat arrays.
 *
 * @typedef {object} CutReads
 * @property {Uint32Array} offset where each read's bases begin
 * @property {Uint8Array} bases codes
 * @property {Uint8Array} quals Phred
 * @property {Uint8Array} insertion as in `ReadBlock`
 * @property {Uint8Array} deletion
 * @property {Uint8Array} mapq
 */

/** Prepares the reads of regions. It counts the bases whose quality was lowered, and reads with tags BI and BD. */
export class Preparation {
  /** @param {Native} native @param {CallOptions} options @param {StrModel | null} strModel */
  constructor(native, options, strModel) {
    this.native = native;
    this.options = options;
    this.strModel = strModel;
    this.profile = options.model === "profile" ? new ProfileModel(PROFILES[options.parameters]) : null;
    this.bases = this.lowered = this.tagged = 0;
  }

  /**
   * @param {CutReads} reads
   * @param {number[]} readsOf the number of reads of each region
   * @param {Uint8Array[][]} haplotypes codes of each region's
   * @returns {Batch}
   */
  batch(reads, readsOf, haplotypes) {
    const baseQuality = preparedBaseQuality(reads.quals, reads.offset, reads.mapq, this.options);
    this.bases += baseQuality.length;
    this.lowered += countLowered(baseQuality, this.options);
    const letters = haplotypes.flat();
    return {
      groups: readsOf.length,
      pairs: readsOf.reduce((pairs, count, region) => pairs + count * haplotypes[region].length, 0),
      groupRead: offsets(readsOf),
      groupHaplotype: offsets(haplotypes.map((own) => own.length)),
      readOffset: reads.offset,
      haplotypeOffset: offsets(letters.map((own) => own.length)),
      haplotypes: joined(letters),
      ...(this.profile ? ofProfile(this.profile, reads.bases, baseQuality) : this.#qualities(reads, baseQuality)),
    };
  }

  /**
   * Gives single reads of a batch, with copies of what the model takes of them.
   *
   * @param {CutReads} reads
   * @param {Batch} batch of these reads
   * @returns {(read: number) => import("./evidence.js").PreparedRead}
   */
  reader({ offset, bases, quals, mapq }, { insertionQuality, deletionQuality, gapQuality }) {
    return (read) => {
      const own = (/** @type {Uint8Array} */ values) => values.slice(offset[read], offset[read + 1]);
      const quality = own(quals);
      const ends = Uint32Array.of(0, quality.length);
      return {
        bases: own(bases),
        quality,
        baseQuality: preparedBaseQuality(quality, ends, [mapq[read]], this.options),
        insertionQuality: own(insertionQuality),
        deletionQuality: own(deletionQuality),
        gapQuality: own(gapQuality),
      };
    };
  }

  /** The reads of GATK's model. @param {CutReads} reads @param {Uint8Array} baseQuality */
  #qualities(reads, baseQuality) {
    const bases = asN(reads.bases);
    if (reads.insertion.length) this.tagged += countTagged(reads);
    const { insertion, deletion, gap } = indelQualities(this.native, reads, bases, this.options, this.strModel);
    return {
      bases,
      baseQuality,
      insertionQuality: insertion,
      deletionQuality: deletion,
      gapQuality: gap,
      rows: new Float64Array(0),
      kinds: new Uint16Array(0),
      startMatch: 0,
      startDeletion: 1,
    };
  }
}

/** Reads with indel qualities of their own. @param {CutReads} reads */
function countTagged({ offset, insertion }) {
  return offset.slice(0, -1).filter((first) => insertion[first] !== NO_INDEL_QUALITY).length;
}

/** The reads of the profile model, whose transitions stand in place of indel qualities. @param {ProfileModel} profile @param {Uint8Array} bases @param {Uint8Array} baseQuality */
function ofProfile(profile, bases, baseQuality) {
  const none = new Uint8Array(0);
  return {
    bases: none,
    baseQuality: none,
    insertionQuality: none,
    deletionQuality: none,
    gapQuality: none,
    rows: profile.rows,
    kinds: profile.kinds(bases, baseQuality),
    startMatch: profile.startMatch,
    startDeletion: profile.startDeletion,
  };
}
