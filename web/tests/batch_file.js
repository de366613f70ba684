// Batches and scores that Python wrote (tests/web/batch_files.py).

import { readFile } from "node:fs/promises";

import { firstPairs } from "../src/pieces.js";

/** @import { Batch } from "../src/batch.js" */

const ARRAYS = {
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
  float64: Float64Array,
};

/**
 * @param {string | URL} path
 * @returns {Promise<{batch: Batch, more: Record<string, any>}>} the batch, and all arrays by name
 */
export async function readBatch(path) {
  const { buffer } = new Uint8Array(await readFile(path));
  let at = new Uint8Array(buffer).indexOf(10) + 1;
  const { numbers, arrays } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 0, at)));
  /** @type {Record<string, any>} */
  const all = { ...numbers };
  for (const [name, [type, length]] of Object.entries(arrays)) {
    const values = new ARRAYS[/** @type {keyof typeof ARRAYS} */ (type)](buffer, at, length);
    all[name] = values;
    at += 8 * Math.ceil(values.byteLength / 8);
  }
  const groups = all.groupRead.length - 1;
  const pairs = firstPairs(all.groupRead, all.groupHaplotype)[groups];
  const batch = /** @type {Batch} */ (/** @type {unknown} */ ({ ...all, groups, pairs }));
  return { batch, more: all };
}
