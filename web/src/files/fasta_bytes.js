// The unpacked bytes of FASTA files, plain or bgzipped (pairhmm/sequences/fasta_index.py).

import { blocksFrom, DamagedBlock } from "./bgzf.js";

/** @import { SourceFile } from "./sources.js" */
/** @typedef {SourceFile | PackedBytes} FastaBytes */

// The most bytes behind the last block that a .gzi names: one more block, and the empty one at the end.
const LONGEST_REST = 1 << 18;

/** The unpacked bytes of a bgzipped FASTA file, found by where its blocks begin. */
export class PackedBytes {
  /** @param {SourceFile} file @param {number[]} places of blocks in the file @param {number[]} offsets of their unpacked bytes */
  constructor(file, places, offsets) {
    this.file = file;
    this.isRemote = file.isRemote;
    this.places = places;
    this.offsets = offsets;
    /** @type {{begin: number, data: Uint8Array}} what was unpacked last: the next read often goes on there */
    this.held = { begin: 0, data: new Uint8Array(0) };
  }

  /**
   * By the numbers of a .gzi.
   *
   * @param {SourceFile} file
   * @param {Uint8Array} index
   * @returns {Promise<PackedBytes | null>} null where they can't be those of the file
   */
  static async indexed(file, index) {
    const view = new DataView(index.buffer, index.byteOffset, index.byteLength);
    if (index.length < 8 || index.length !== 8 + 16 * Number(view.getBigUint64(0, true))) return null;
    const [places, offsets] = [[0], [0]];
    for (let at = 8; at < index.length; at += 16) {
      places.push(Number(view.getBigUint64(at, true)));
      offsets.push(Number(view.getBigUint64(at + 8, true)));
    }
    return (await file.size()) - places[places.length - 1] > LONGEST_REST
      ? null
      : new PackedBytes(file, places, offsets);
  }

  /** @throws {DamagedBlock} */
  async size() {
    let size = this.offsets[this.offsets.length - 1];
    for await (const { data } of blocksFrom(this.file, this.places[this.places.length - 1])) size += data.length;
    return size;
  }

  /**
   * The bytes from an offset on, fewer at the end.
   *
   * @param {number} offset
   * @param {number} count
   * @throws {DamagedBlock}
   */
  async read(offset, count) {
    const bytes = new Uint8Array(count);
    let filled = 0;
    while (filled < count) {
      const piece = (await this.#from(offset + filled)).subarray(0, count - filled);
      if (!piece.length) break;
      bytes.set(piece, filled);
      filled += piece.length;
    }
    return bytes.subarray(0, filled);
  }

  /** Some bytes from an offset on; none at the end. @param {number} offset */
  async #from(offset) {
    const { begin, data } = this.held;
    if (offset >= begin && offset < begin + data.length) return data.subarray(offset - begin);
    const block = lastUpTo(this.offsets, offset);
    let at = this.offsets[block];
    for await (const { data: more } of blocksFrom(this.file, this.places[block], this.places[block])) {
      this.held = { begin: at, data: more };
      if (offset < at + more.length) return more.subarray(offset - at);
      at += more.length;
    }
    return new Uint8Array(0);
  }
}

/** The place of the last of rising numbers that is not above another. @param {number[]} numbers @param {number} most */
function lastUpTo(numbers, most) {
  let [low, high] = [0, numbers.length];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (numbers[middle] <= most) low = middle;
    else high = middle;
  }
  return low;
}
