// Names of many reads, laid end to end (pairhmm/sequences/arrays.py).

import { crc32 } from "../crc32.js";
import { gather, joined, offsets } from "./arrays.js";

const DECODER = new TextDecoder();

/** Names laid end to end, as UTF-8. They are decoded when one asks for them. */
export class Names {
  /** @param {Uint8Array} text @param {Uint32Array} offset where each name begins, and where the last one ends */
  constructor(text, offset) {
    this.text = text;
    this.offset = offset;
  }

  get length() {
    return this.offset.length - 1;
  }

  /** @param {number} index */
  at(index) {
    return DECODER.decode(this.text.subarray(this.offset[index], this.offset[index + 1]));
  }

  /** The names at some indices, in that order. @param {ArrayLike<number>} indices */
  take(indices) {
    const starts = Uint32Array.from(indices, (index) => this.offset[index]);
    const offset = offsets(Uint32Array.from(indices, (index) => this.offset[index + 1] - this.offset[index]));
    return new Names(gather(this.text, starts, offset), offset);
  }

  /** The CRC-32 of a name. @param {number} index */
  checksum(index) {
    return crc32(this.text.subarray(this.offset[index], this.offset[index + 1]));
  }

  /** @param {Names[]} parts at least one */
  static concatenate(parts) {
    return new Names(joined(parts.map((part) => part.text)), joinedOffsets(parts.map((part) => part.offset)));
  }
}

/** Offsets of arrays that are laid end to end. @param {Uint32Array[]} parts */
export function joinedOffsets(parts) {
  const all = new Uint32Array(parts.reduce((size, part) => size + part.length - 1, 1));
  let at = 0;
  for (const part of parts) {
    for (let i = 1; i < part.length; i++) all[at + i] = all[at] + part[i];
    at += part.length - 1;
  }
  return all;
}
