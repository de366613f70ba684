// Blocks of bgzipped files (pairhmm/files/bgzf.py; SAM specification, section 4.1).

import { unzip } from "@gmod/bgzf-filehandle";

import { crc32 } from "../crc32.js";

/** @import { SourceFile } from "./sources.js" */

/** Unpacked blocks, end to end: where each begins in the file, and among the bytes. */
/** @typedef {{addresses: number[], begins: number[], data: Uint8Array}} Batch */

const HEAD_SIZE = 18;
const TAIL_SIZE = 8;
const LONGEST_BLOCK = 1 << 16;
const AT_ONCE = 1 << 20;
const BEGIN = [31, 139, 8];
const HAS_FIELD = 4;
const FIELD = [6, 0, 66, 67, 2, 0];

/** A block that can't be unpacked, or a file that ends within a block or a record. */
export class DamagedBlock extends Error {}

/** Whether a block begins with these bytes: gzip with an extra field of 6 bytes, which is the subfield BC. @param {Uint8Array} head */
export function isBlock(head) {
  return (
    head.length >= HEAD_SIZE &&
    BEGIN.every((byte, index) => byte === head[index]) &&
    (head[3] & HAS_FIELD) !== 0 &&
    FIELD.every((byte, index) => byte === head[10 + index])
  );
}

/**
 * Unpacked blocks from an address on. The checksum of each is compared.
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
    const blocks = walk(packed);
    if (!blocks.length) throw new DamagedBlock(`no whole block at ${address}`);
    const data = await unpackedTogether(packed, blocks);
    if (data) yield { ...placesOf(blocks, address), data };
    else yield* oneByOne(packed, blocks, address);
    address += blocks[blocks.length - 1].end;
  }
}

/**
 * A block's bytes, and the address behind it, which is null at the end of the file. Null where no block begins.
 *
 * @param {SourceFile} file
 * @param {number} address
 * @throws {DamagedBlock}
 */
export async function blockAt(file, address) {
  const packed = await file.read(address, LONGEST_BLOCK);
  if (!packed.length) return { data: new Uint8Array(0), behind: null };
  if (!isBlock(packed)) return null;
  const [block] = walk(packed);
  if (!block) throw new DamagedBlock(`no whole block at ${address}`);
  const { value } = await oneByOne(packed, [block], address).next();
  return { data: /** @type {Batch} */ (value).data, behind: address + block.end };
}

/** A block among packed bytes, and what its end says of the unpacked ones. */
/** @typedef {{begin: number, end: number, checksum: number, size: number}} PackedBlock */

/** The whole blocks at the front of some bytes. @param {Uint8Array} packed @returns {PackedBlock[]} */
export function walk(packed) {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  /** @type {PackedBlock[]} */
  const blocks = [];
  for (let begin = 0; packed.length - begin >= HEAD_SIZE && isBlock(packed.subarray(begin, begin + HEAD_SIZE));) {
    const end = begin + view.getUint16(begin + 16, true) + 1;
    if (end > packed.length || end < begin + HEAD_SIZE + TAIL_SIZE) break;
    const [checksum, size] = [view.getUint32(end - 8, true), view.getUint32(end - 4, true)];
    blocks.push({ begin, end, checksum, size });
    begin = end;
  }
  return blocks;
}

/** @param {PackedBlock[]} blocks @param {number} address of the bytes that they are in */
function placesOf(blocks, address) {
  /** @type {number[]} */
  const begins = [];
  let size = 0;
  for (const block of blocks) {
    begins.push(size);
    size += block.size;
  }
  return { addresses: blocks.map(({ begin }) => address + begin), begins };
}

/**
 * Blocks unpacked at once, the fastest way; null where any is not as its end says.
 *
 * @param {Uint8Array} packed
 * @param {PackedBlock[]} blocks
 */
async function unpackedTogether(packed, blocks) {
  // The library makes room for what the sizes say, however large.
  if (blocks.some(({ size }) => size > LONGEST_BLOCK)) return null;
  /** @type {Uint8Array} */
  let data;
  try {
    data = await unzip(packed.subarray(0, blocks[blocks.length - 1].end));
  } catch (error) {
    // The library's own program can't be started: that says nothing about the data.
    if (error instanceof TypeError || error instanceof WebAssembly.CompileError) throw error;
    return null;
  }
  let at = 0;
  for (const { size, checksum } of blocks) {
    if (crc32(data.subarray(at, at + size)) !== checksum) return null;
    at += size;
  }
  return at === data.length ? data : null;
}

/**
 * Blocks up to a damaged one, since what is wrong with the reads in them comes first. As in htslib, the size that a
 * block's end has is not looked at, and its data begin behind the head whatever flags are set.
 *
 * @param {Uint8Array} packed
 * @param {PackedBlock[]} blocks
 * @param {number} address
 * @returns {AsyncGenerator<Batch>}
 */
async function* oneByOne(packed, blocks, address) {
  for (const { begin, end, checksum } of blocks) {
    const data = await inflated(packed.subarray(begin + HEAD_SIZE, end - TAIL_SIZE));
    if (!data || data.length > LONGEST_BLOCK || crc32(data) !== checksum) {
      throw new DamagedBlock(`a damaged block at ${address + begin}`);
    }
    yield { addresses: [address + begin], begins: [0], data };
  }
}

/** Deflated bytes unpacked; null where they are damaged. @param {Uint8Array} packed */
async function inflated(packed) {
  const stream = new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (packed)])
    .stream()
    .pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).arrayBuffer().then(
    (data) => new Uint8Array(data),
    () => null,
  );
}
