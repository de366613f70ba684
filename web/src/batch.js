// A batch: the reads and haplotypes of some groups, as flat arrays with offsets (pairhmm/models/batch.py).

import { joined, offsets } from "./arrays.js";
import { encode, encodeCase } from "./letters.js";
import { OPTIONS } from "./models/parameters.js";

const HIGHEST_QUALITY = 93;

/**
 * A read as GATK's model takes it. Qualities are Phred: one number for each base, or one for all of them.
 *
 * @typedef {object} Read
 * @property {string | Uint8Array} bases letters or codes
 * @property {ArrayLike<number> | number} baseQuality
 * @property {ArrayLike<number> | number} [insertionQuality] of the opening of an insertion; 45 where it is missing
 * @property {ArrayLike<number> | number} [deletionQuality] of the opening of a deletion; 45 where it is missing
 * @property {ArrayLike<number> | number} [gapQuality] of the continuation of either; 10 where it is missing
 */

/**
 * Reads and haplotypes of one region. Every read is scored against every haplotype.
 *
 * @typedef {object} Group
 * @property {Read[]} reads
 * @property {(string | Uint8Array)[]} haplotypes letters or codes
 * @property {ArrayLike<number>[]} [flags] of each letter of haplotypes that are GATK's partially determined ones, from
 *   -128 to 255: 1 SNP, 2 a deletion starts, 4 it ends, 8 A, 16 C, 32 G, 64 T. Either all groups have flags or none.
 *   Lower-case letters are others then.
 */

/**
 * @typedef {object} Batch
 * @property {number} groups
 * @property {number} pairs
 * @property {Uint32Array} groupRead first read of each group, and their number
 * @property {Uint32Array} groupHaplotype first haplotype of each group, and their number
 * @property {Uint32Array} readOffset first base of each read, and their number
 * @property {Uint32Array} haplotypeOffset first letter of each haplotype, and their number
 * @property {Uint8Array} haplotypes codes of all letters
 * @property {Uint8Array} bases codes of all bases
 * @property {Uint8Array} baseQuality
 * @property {Uint8Array} insertionQuality
 * @property {Uint8Array} deletionQuality
 * @property {Uint8Array} gapQuality
 * @property {Float64Array} rows of any model, 12 numbers a base or, with `kinds`, each distinct row once; else empty.
 *   Where they are given, the bases and qualities are empty.
 * @property {Uint16Array} kinds the row of each base, else empty
 * @property {Uint8Array} flags of each letter of partially determined haplotypes, else empty. With flags, codes of
 *   lower-case letters are 8 more.
 * @property {number} startMatch M[0,0]
 * @property {number} startDeletion D[0,0] as a multiple of 1/n
 */

/**
 * The batch of some groups.
 *
 * @param {Group[]} groups
 * @returns {Batch}
 * @throws {RangeError} for an empty read or haplotype, and for qualities that do not fit their read
 */
export function packBatch(groups) {
  const reads = groups.flatMap((group) => group.reads);
  const flags = groups.flatMap((group) => group.flags ?? []).map((own) => Uint8Array.from(own));
  const code = flags.length ? encodeCase : encode;
  const haplotypes = groups.flatMap((group) => group.haplotypes.map(code));
  const bases = reads.map((read) => code(read.bases));
  bases.forEach((own, index) => own.length || fail(`read ${index} is empty`));
  haplotypes.forEach((own, index) => own.length || fail(`haplotype ${index} is empty`));
  if (flags.length) checkFlags(flags, haplotypes);
  const readOffset = offsets(bases.map((own) => own.length));

  /** @param {(read: Read) => ArrayLike<number> | number} of @param {string} name */
  const qualities = (of, name) => {
    const all = new Uint8Array(readOffset[reads.length]);
    reads.forEach((read, index) => {
      const own = all.subarray(readOffset[index], readOffset[index + 1]);
      fillQualities(own, of(read), `${name} of read ${index}`);
    });
    return all;
  };
  return {
    groups: groups.length,
    pairs: groups.reduce((pairs, group) => pairs + group.reads.length * group.haplotypes.length, 0),
    groupRead: offsets(groups.map((group) => group.reads.length)),
    groupHaplotype: offsets(groups.map((group) => group.haplotypes.length)),
    readOffset,
    haplotypeOffset: offsets(haplotypes.map((own) => own.length)),
    haplotypes: joined(haplotypes),
    bases: joined(bases),
    baseQuality: qualities((read) => read.baseQuality, "baseQuality"),
    insertionQuality: qualities((read) => read.insertionQuality ?? OPTIONS.insertionQuality, "insertionQuality"),
    deletionQuality: qualities((read) => read.deletionQuality ?? OPTIONS.deletionQuality, "deletionQuality"),
    gapQuality: qualities((read) => read.gapQuality ?? OPTIONS.gapQuality, "gapQuality"),
    rows: new Float64Array(0),
    kinds: new Uint16Array(0),
    flags: joined(flags),
    startMatch: 0, // GATK's row 0: M[0,0] = 0, D[0,j] = 1/n
    startDeletion: 1,
  };
}

/** @param {Uint8Array[]} flags @param {Uint8Array[]} haplotypes */
function checkFlags(flags, haplotypes) {
  if (flags.length !== haplotypes.length)
    fail(`flags of ${flags.length} haplotypes, but there are ${haplotypes.length}`);
  flags.forEach((own, index) => {
    const { length } = haplotypes[index];
    if (own.length !== length) fail(`haplotype ${index}: ${own.length} flags for ${length} letters`);
  });
}

/** @param {Uint8Array} own @param {ArrayLike<number> | number} given @param {string} name */
function fillQualities(own, given, name) {
  if (typeof given !== "number" && given.length !== own.length) {
    fail(`${name}: ${given.length} values for ${own.length} bases`);
  }
  for (let i = 0; i < own.length; i++) {
    const value = typeof given === "number" ? given : given[i];
    if (!(Number.isInteger(value) && value >= 0 && value <= HIGHEST_QUALITY)) {
      fail(`${name}: ${value} is no whole number from 0 to ${HIGHEST_QUALITY}`);
    }
    own[i] = value;
  }
}

/** @param {string} why @returns {never} */
function fail(why) {
  throw new RangeError(why);
}
