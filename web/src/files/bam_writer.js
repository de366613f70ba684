// Records of CRAM as the bytes of BAM records (SAM specification, section 4.2), as far as our parser looks at them.

import { joined } from "../arrays.js";

/** @import { CramRecord } from "@gmod/cram" */

const LETTERS = "=ACMGRSVTWYHKDBN";
const SETS = Uint8Array.from({ length: 256 }, (_, code) => {
  const set = LETTERS.indexOf(String.fromCharCode(code).toUpperCase());
  return set < 0 ? 15 : set;
});
const [MATCH, INSERT, DELETE, SKIP, SOFT_CLIP, HARD_CLIP, PAD] = [0, 1, 2, 3, 4, 5, 6];
const UNMAPPED = 4;
const NO_QUALITY = 0xff;
const FIXED = 36;
const INDEL_TAGS = ["BI", "BD"];

/**
 * @param {CramRecord[]} records
 * @param {string[]} groups IDs of the header's read groups
 */
export function bamRecords(records, groups) {
  return joined(records.map((record) => bamRecord(record, groups)));
}

/** @param {CramRecord} record @param {string[]} groups */
function bamRecord(record, groups) {
  const name = new TextEncoder().encode(`${record.readName ?? "*"}\0`);
  const bases = record.isUnknownBases() ? "" : (record.getReadBases() ?? "");
  const cigar = record.flags & UNMAPPED ? [] : cigarOf(record, bases.length);
  const group = groups[record.readGroupId];
  const tag = new TextEncoder().encode(tagsOf(record, group));
  const [cigarAt, lettersAt] = [FIXED + name.length, FIXED + name.length + 4 * cigar.length];
  const qualitiesAt = lettersAt + ((bases.length + 1) >> 1);
  const bytes = new Uint8Array(qualitiesAt + bases.length + tag.length);
  const view = new DataView(bytes.buffer);
  view.setInt32(0, bytes.length - 4, true);
  view.setInt32(4, record.sequenceId, true);
  view.setInt32(8, record.alignmentStart - 1, true);
  bytes[12] = name.length;
  bytes[13] = record.mappingQuality ?? 0;
  view.setUint16(16, cigar.length, true);
  view.setUint16(18, record.flags, true);
  view.setInt32(20, bases.length, true);
  view.setInt32(24, record.mate?.sequenceId ?? -1, true);
  view.setInt32(28, (record.mate?.alignmentStart ?? 0) - 1, true);
  view.setInt32(32, record.templateLength ?? record.templateSize ?? 0, true);
  bytes.set(name, FIXED);
  cigar.forEach((packed, index) => view.setUint32(cigarAt + 4 * index, packed, true));
  for (let i = 0; i < bases.length; i++) {
    const set = SETS[bases.charCodeAt(i)];
    bytes[lettersAt + (i >> 1)] |= i % 2 ? set : set << 4;
  }
  if (record.qualityScores) bytes.set(record.qualityScores.subarray(0, bases.length), qualitiesAt);
  else bytes.fill(NO_QUALITY, qualitiesAt, qualitiesAt + bases.length);
  bytes.set(tag, qualitiesAt + bases.length);
  return bytes;
}

/** The tags that our parser looks at. @param {CramRecord} record @param {string | undefined} group */
function tagsOf(record, group) {
  const tags = /** @type {Record<string, unknown>} */ (record.tags ?? {});
  const texts = INDEL_TAGS.filter((name) => typeof tags[name] === "string").map((name) => `${name}Z${tags[name]}\0`);
  return (group === undefined ? "" : `RGZ${group}\0`) + texts.join("");
}

/** The CIGAR, packed as in BAM, from what differs from the reference. @param {CramRecord} record @param {number} length */
function cigarOf(record, length) {
  /** @type {{operation: number, length: number}[]} */
  const operations = [];
  let done = 0; // bases of the read
  /** @param {number} operation @param {number} size */
  const add = (operation, size) => {
    const last = operations.at(-1);
    if (last?.operation === operation) last.length += size;
    else if (size) operations.push({ operation, length: size });
    if (operation === MATCH || operation === INSERT || operation === SOFT_CLIP) done += size;
  };
  for (const { code, pos, data } of record.readFeatures ?? []) {
    if (code === "Q" || code === "q") continue;
    if (pos - 1 > done) add(MATCH, pos - 1 - done);
    const size = typeof data === "number" ? data : data.length;
    if (code === "X" || code === "B") add(MATCH, 1);
    else if (code === "b") add(MATCH, size);
    else if (code === "I") add(INSERT, size);
    else if (code === "i") add(INSERT, 1);
    else if (code === "S") add(SOFT_CLIP, size);
    else if (code === "D") add(DELETE, size);
    else if (code === "N") add(SKIP, size);
    else if (code === "H") add(HARD_CLIP, size);
    else if (code === "P") add(PAD, size);
  }
  const whole = length || record.readLength;
  if (whole > done) add(MATCH, whole - done);
  return operations.map(({ operation, length: size }) => ((size << 4) | operation) >>> 0);
}
