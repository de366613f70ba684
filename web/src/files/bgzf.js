// Blocks of bgzipped files (pairhmm/io/files/bgzf_blocks.py; SAM specification, section 4.1).

import { unzip } from "@gmod/bgzf-filehandle";

/** @typedef {import("./sources.js").SourceFile} SourceFile */

/** Unpacked blocks, end to end: where each begins in the file, and among the bytes. */
/** @typedef {{addresses: number[], begins: number[], data: Uint8Array}} Batch */

const HEAD_SIZE = 18;
const LONGEST_BLOCK = 1 << 16;
const AT_ONCE = 1 << 20;
const END_MARKER = Uint8Array.from([
  31, 139, 8, 4, 0, 0, 0, 0, 0, 255, 6, 0, 66, 67, 2, 0, 27, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);

/** A block that can't be unpacked, or a file that ends within a block or a record. */
export class DamagedBlock extends Error {}

/** Whether a block begins with these bytes. @param {Uint8Array} head */
export function isBlock(head) {
  return (
    head.length >= HEAD_SIZE &&
    head[0] === 31 &&
    head[1] === 139 &&
    head[2] === 8 &&
    head[3] === 4 &&
    head[12] === 66 &&
    head[13] === 67
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
    const data = await unpackedBlocks(packed.subarray(0, batch.end), batch.size);
    if (!data) {
      yield* soundBlocks(packed, batch, address);
      return;
    }
    yield { addresses: batch.addresses, begins: batch.begins, data };
    address += batch.end;
  }
}

/**
 * The blocks before a damaged one, since what is wrong with the reads in them comes first.
 *
 * @param {Uint8Array} packed
 * @param {{addresses: number[], end: number}} batch
 * @param {number} address
 * @returns {AsyncGenerator<Batch>}
 */
async function* soundBlocks(packed, { addresses, end }, address) {
  for (const [index, own] of addresses.entries()) {
    const block = packed.subarray(own - address, index + 1 < addresses.length ? addresses[index + 1] - address : end);
    const data = await unpackedBlocks(block, unpackedSize(block));
    if (!data) throw new DamagedBlock(`a damaged block at ${own}`);
    yield { addresses: [own], begins: [0], data };
  }
}

/** Whole blocks unpacked; null where one is damaged. @param {Uint8Array} packed @param {number} size */
async function unpackedBlocks(packed, size) {
  try {
    /** @type {Uint8Array} */
    const data = await unzip(packed);
    return data.length === size ? data : null;
  } catch (error) {
    // The library's own program can't be started: that says nothing about the data.
    if (error instanceof TypeError || error instanceof WebAssembly.CompileError) throw error;
    return null;
  }
}

/** @param {Uint8Array} block */
function unpackedSize(block) {
  return new DataView(block.buffer, block.byteOffset + block.length - 4, 4).getUint32(0, true);
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
    if (!isBlock(head)) break;
    const next = end + (head[16] | (head[17] << 8)) + 1;
    if (next > packed.length || next < end + HEAD_SIZE + 8) break;
    addresses.push(address + end);
    begins.push(size);
    size += unpackedSize(packed.subarray(end, next));
    end = next;
  }
  return { addresses, begins, end, size };
}
