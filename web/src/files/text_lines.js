// Lines of text files, plain, gzipped or bgzipped, of which only a part is held.

import { blocksFrom, isBlock } from "./bgzf.js";
import { gunzipped, isGzip } from "./byte_stream.js";
import { becomesGzip, checkEnd } from "./end_markers.js";
import { checkPacking } from "./sources.js";
import { InputProblem } from "./problem.js";

/** @import { SourceFile } from "./sources.js" */

const AT_ONCE = 1 << 20;

/**
 * The lines of a file, some at a time, without what ends them.
 *
 * @param {SourceFile} file
 * @returns {AsyncGenerator<string[]>}
 * @throws {InputProblem} for a compressed file that is cut off
 */
export async function* textLines(file) {
  const decoder = new TextDecoder(); // without a byte order mark
  let rest = "";
  for await (const bytes of unpacked(file)) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = /** @type {string} */ (lines.pop());
    yield lines.map(withoutReturn);
  }
  rest += decoder.decode();
  if (rest) yield [withoutReturn(rest)];
}

/** @param {string} line */
function withoutReturn(line) {
  return line.endsWith("\r") ? line.replace(/\r+$/, "") : line;
}

/** The bytes of a file, unpacked where it is compressed. @param {SourceFile} file @returns {AsyncGenerator<Uint8Array>} */
async function* unpacked(file) {
  await checkPacking(file);
  const head = await file.read(0, 18);
  if (isBlock(head) && !(await becomesGzip(file))) {
    await checkEnd(file);
    yield* whole(file, blockData(file));
  } else if (isGzip(head)) {
    yield* whole(file, gunzipped(plain(file)));
  } else {
    await checkEnd(file);
    yield* plain(file);
  }
}

/** @param {SourceFile} file @returns {AsyncGenerator<Uint8Array>} */
async function* blockData(file) {
  for await (const batch of blocksFrom(file, 0)) yield batch.data;
}

/** @param {SourceFile} file @param {AsyncGenerator<Uint8Array>} data of it, unpacked */
async function* whole(file, data) {
  try {
    yield* data;
  } catch (error) {
    throw error instanceof InputProblem ? error : damaged(file);
  }
}

/** @param {SourceFile} file @returns {AsyncGenerator<Uint8Array<ArrayBuffer>>} */
async function* plain(file) {
  const size = await file.size();
  for (let at = 0; at < size; at += AT_ONCE)
    yield /** @type {Uint8Array<ArrayBuffer>} */ (await file.read(at, AT_ONCE));
}

/** @param {SourceFile} file */
function damaged(file) {
  const cure = "check the file; candidates are VCF or BCF";
  return new InputProblem(file.name, "", "can't be read: it may be cut off", cure);
}
