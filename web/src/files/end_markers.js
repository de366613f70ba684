// The markers at the end of alignment files and bgzipped files (pairhmm/files/bgzf.py).

import { blockAt, isBlock, walk } from "./bgzf.js";
import { isGzip } from "./byte_stream.js";
import { InputProblem } from "./problem.js";

/** @import { SourceFile } from "./sources.js" */

const HEAD_SIZE = 18;
const AT_ONCE = 1 << 20;
// What a binary file in blocks begins with.
const BINARY = /^(BAM\x01|BCF)/;
const CURE = "copy or make it again";
const BGZF_END = "1f8b08040000000000ff0600424302001b0003000000000000000000";
// The empty container at a file's end, by major version (CRAM specification, section 9). CRAM 2.0 has none.
const CRAM_ENDS = new Map([
  [2, "0b000000ffffffff0fe0454f460000000001000001000606010001000100"],
  [3, "0f000000ffffffff0fe0454f4600000000010005bdd94f0001000606010001000100ee63014b"],
]);
// A sound file with one of these endings is never empty.
const NEVER_EMPTY = /\.(gz|bgz|bam|cram|bcf)$/;

/** Requires that a file ends in the marker of its format. @param {SourceFile} file @throws {InputProblem} for a file that was cut off */
export async function checkEnd(file) {
  const size = await file.size();
  if (!size && NEVER_EMPTY.test(file.name)) {
    throw new InputProblem(file.name, "", "is cut off: nothing is in it", CURE);
  }
  const marker = markerOf(await file.read(0, HEAD_SIZE));
  if (!(await endsIn(file, marker))) {
    throw new InputProblem(file.name, "", "is cut off: its end marker is missing", CURE);
  }
}

/**
 * Whether a file that begins in blocks of BGZF is text, and goes on to its end as plain gzip behind one of them. Both
 * are gzip, whose files may be put together (RFC 1952, section 2.2).
 *
 * @param {SourceFile} file
 */
export async function becomesGzip(file) {
  if (await endsIn(file, BGZF_END)) return false;
  const first = await blockAt(file, 0).catch(() => null);
  if (first && BINARY.test(String.fromCharCode(...first.data.subarray(0, 4)))) return false;
  const size = await file.size();
  for (let at = 0; at < size;) {
    const packed = await file.read(at, AT_ONCE);
    const blocks = walk(packed);
    if (!blocks.length) return isGzip(packed) && !isBlock(packed);
    at += blocks[blocks.length - 1].end;
  }
  return false;
}

/** @param {SourceFile} file @param {string} marker in hexadecimal digits */
async function endsIn(file, marker) {
  const length = marker.length / 2;
  const tail = await file.read(Math.max(0, (await file.size()) - length), length);
  return Array.from(tail, (byte) => byte.toString(16).padStart(2, "0")).join("") === marker;
}

/** The end marker of a file that begins so; empty if its format has none. @param {Uint8Array} head */
function markerOf(head) {
  if (isBlock(head)) return BGZF_END;
  const [major, minor] = head.subarray(4);
  const isCram = String.fromCharCode(...head.subarray(0, 4)) === "CRAM";
  return isCram && (major > 2 || minor > 0) ? (CRAM_ENDS.get(major) ?? "") : "";
}
