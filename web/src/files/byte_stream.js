// Gzipped bytes, unpacked (pairhmm/files/byte_stream.py). Gzip may have several members (RFC 1952, section 2.2).

import { Inflate } from "pako-esm2";

import { DamagedIndex } from "./bam_index.js";

const GZIP = [31, 139];
// The largest window, and a head of gzip, in the numbers of zlib.
const GZIP_ONLY = 15 + 16;

/** Whether a gzip file begins with these bytes. @param {Uint8Array} head */
export function isGzip(head) {
  return GZIP.every((byte, index) => byte === head[index]);
}

/** An index, which may be gzipped. @param {Uint8Array} bytes @throws {DamagedIndex} where it can't be unpacked */
export async function unzipped(bytes) {
  if (!isGzip(bytes)) return bytes;
  try {
    const parts = [];
    for await (const part of gunzipped(once(bytes))) parts.push(/** @type {Uint8Array<ArrayBuffer>} */ (part));
    return new Uint8Array(await new Blob(parts).arrayBuffer());
  } catch {
    throw new DamagedIndex();
  }
}

/** @param {Uint8Array} bytes */
async function* once(bytes) {
  yield bytes;
}

/** Gzipped bytes, unpacked. @param {AsyncGenerator<Uint8Array>} packed @returns {AsyncGenerator<Uint8Array>} @throws {Error} for damaged bytes, and those that are cut off */
export async function* gunzipped(packed) {
  /** @type {Uint8Array[]} */
  const parts = [];
  /** @type {Inflate | null} */
  let member = null;
  for await (let piece of packed) {
    while (piece.length) {
      if (!member) {
        // Zeros may fill up a file behind a member.
        const at = piece.findIndex((byte) => byte !== 0);
        if (at < 0) break;
        piece = piece.subarray(at);
        member = new Inflate({ windowBits: GZIP_ONLY });
        member.onData = (/** @type {Uint8Array} */ part) => parts.push(part);
      }
      member.push(piece, false);
      if (member.err) throw new Error(member.msg);
      yield* parts.splice(0);
      piece = piece.subarray(piece.length - (member.strm?.avail_in ?? 0));
      if (member.ended) member = null;
    }
  }
  if (member) throw new Error("its gzip stream has no end");
}
