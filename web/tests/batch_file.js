// Batches and scores that Python wrote (tests/web/batch_files.py).

import { readFile } from "node:fs/promises";

/** @typedef {import("../src/batch.js").Batch} Batch */

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
  let pairs = 0;
  for (let g = 0; g + 1 < all.groupRead.length; g++) {
    pairs += (all.groupRead[g + 1] - all.groupRead[g]) * (all.groupHaplotype[g + 1] - all.groupHaplotype[g]);
  }
  const batch = /** @type {Batch} */ (/** @type {unknown} */ ({ ...all, groups: all.groupRead.length - 1, pairs }));
  return { batch, more: all };
}
