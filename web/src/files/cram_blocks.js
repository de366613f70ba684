// Checksums of a CRAM file's blocks (CRAM specification, section 8).

import { CramFile } from "@gmod/cram";

import { crc32 } from "../crc32.js";
import { DamagedBlock } from "./bgzf.js";

/** @import { SourceFile } from "./sources.js" */

// Method and type, and three numbers of up to 5 bytes: the block's identity, and its sizes, packed and not.
const LONGEST_HEAD = 17;
const NUMBERS_AT = 2;
const CHECKSUM_SIZE = 4;
// Version 2 has no checksums, and version 4 other numbers.
const VERSION = 3;

/** A CRAM file of which a block's checksum is compared before it is unpacked: damaged data may be unpacked without end. */
export class CheckedCramFile extends CramFile {
  /** @param {SourceFile} source @param {(tid: number, start: number, end: number) => Promise<string>} seqFetch */
  constructor(source, seqFetch) {
    super({ filehandle: source.handle, seqFetch, checkSequenceMD5: true });
    this.source = source;
  }

  /** @param {number} position */
  async readBlock(position) {
    if (await this.#hasChecksums()) {
      const size = sizeOf(await this.source.read(position, LONGEST_HEAD));
      const isWithin = position + size <= (await this.source.size());
      checkBlock(isWithin ? await this.source.read(position, size) : new Uint8Array(0));
    }
    return super.readBlock(position);
  }

  /** @param {Uint8Array} buffer @param {number} offset @param {number} position */
  async readBlockFromBuffer(buffer, offset, position) {
    if (await this.#hasChecksums()) checkBlock(buffer.subarray(offset));
    return super.readBlockFromBuffer(buffer, offset, position);
  }

  async #hasChecksums() {
    return (await this.getDefinition()).majorVersion === VERSION;
  }
}

/** @param {Uint8Array} bytes that begin with a block @throws {DamagedBlock} */
function checkBlock(bytes) {
  const size = sizeOf(bytes);
  const end = size - CHECKSUM_SIZE;
  const isWhole = end >= 0 && size <= bytes.length;
  if (
    !isWhole ||
    new DataView(bytes.buffer, bytes.byteOffset + end).getUint32(0, true) !== crc32(bytes.subarray(0, end))
  ) {
    throw new DamagedBlock("a damaged block of CRAM");
  }
}

/** Bytes of the block that begins here, its checksum included. @param {Uint8Array} bytes */
function sizeOf(bytes) {
  const [, behindIdentity] = numberAt(bytes, NUMBERS_AT);
  const [packed, behindPacked] = numberAt(bytes, behindIdentity);
  const [, behind] = numberAt(bytes, behindPacked);
  return behind + packed + CHECKSUM_SIZE;
}

/** A signed number of 1 to 5 bytes (ITF8), and where it ends. @param {Uint8Array} bytes @param {number} at @returns {[number, number]} */
export function numberAt(bytes, at) {
  const first = bytes[at] ?? 0;
  const more = Math.min(4, Math.clz32(~(first << 24)));
  let value = first & (more < 4 ? 0xff >> (more + 1) : 15);
  for (let i = 1; i <= more; i++) {
    const next = bytes[at + i] ?? 0;
    // Of the fifth byte four bits count.
    value = i < 4 ? (value << 8) | next : (value << 4) | (next & 15);
  }
  return [value, at + 1 + more];
}
