// Blocks of bgzipped files (pairhmm/io/files/bgzf_blocks.py; SAM specification, section 4.1).

import { unzip } from "@gmod/bgzf-filehandle";

/** @typedef {import("./sources.js").SourceFile} SourceFile */

/** Unpacked blocks, end to end: where each begins in the file, and among the bytes. */
/** @typedef {{addresses: number[], begins: number[], data: Uint8Array}} Batch */

const HEAD_SIZE = 18;
const LONGEST_BLOCK = 1 << 16;
const AT_ONCE = 1 << 20;
const END_MARKER = Uint8Array.from([31, 139, 8, 4, 0, 0, 0, 0, 0, 255, 6, 0, 66, 67, 2, 0, 27, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]);

/** A block that can't be unpacked, or a file that ends within a block or a record. */
export class DamagedBlock extends Error {}

/** Whether a block begins with these bytes. @param {Uint8Array} head */
export function isBlock(head) {
  return (
    head.length >= HEAD_SIZE && head[0] === 31 && head[1] === 139 && head[2] === 8 && head[3] === 4 && head[12] === 66 && head[13] === 67
  );
}

/** Whether a bgzipped file is whole: it ends in an empty block. @param {SourceFile} file */
export async function hasEndMarker(file) {
  const tail = await file.read((await file.size()) - END_MARKER.length, END_MARKER.length);
  return tail.length === END_MARKER.length && tail.every((byte, index) => byte === END_MARKER[index]);
}

/**
 * Unpacked blocks from an address on.
 *
 * @param {SourceFile} file
 * @param {number} address
 * @param {number} [behind] an address up to which more is sure to be asked for
 * @returns {AsyncGenerator<Batch>}
 * @throws {DamagedBlock}
 */
export async function* blocksFrom(file, address, behind = Infinity) {
  const size = await file.size();
  while (address < size) {
    const wanted = Math.min(AT_ONCE, Math.max(behind - address, 0) + LONGEST_BLOCK);
    const packed = await file.read(address, wanted);
    const batch = walk(packed, address);
    if (batch.end === 0) throw new DamagedBlock(`no whole block at ${address}`);
    /** @type {Uint8Array} */
    let data;
    try {
      data = await unzip(packed.subarray(0, batch.end));
    } catch (error) {
      throw new DamagedBlock(String(error));
    }
    if (data.length !== batch.size) throw new DamagedBlock(`a block at ${address} is shorter than it says`);
    yield { addresses: batch.addresses, begins: batch.begins, data };
    address += batch.end;
  }
}

/** The whole blocks at the front of some bytes. @param {Uint8Array} packed @param {number} address */
function walk(packed, address) {
  /** @type {number[]} */
  const addresses = [];
  /** @type {number[]} */
  const begins = [];
  let [end, size] = [0, 0];
  while (packed.length - end >= HEAD_SIZE) {
    const head = packed.subarray(end, end + HEAD_SIZE);
    if (!isBlock(head)) throw new DamagedBlock(`no block at ${address + end}`);
    const next = end + (head[16] | (head[17] << 8)) + 1;
    if (next > packed.length || next < end + HEAD_SIZE + 8) break;
    addresses.push(address + end);
    begins.push(size);
    size += new DataView(packed.buffer, packed.byteOffset + next - 4, 4).getUint32(0, true);
    end = next;
  }
  return { addresses, begins, end, size };
}
