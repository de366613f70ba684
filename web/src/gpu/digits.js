// GATK's five bytes of a base as digits of one number, where that takes fewer bytes (pairhmm/backends/read_packing.py).

/** @typedef {import("../batch.js").Batch} Batch */

const MOST_BYTES = 2; // of a number

/**
 * @typedef {object} Digits
 * @property {Uint8Array} numbers one for each base, of `width` bytes, the low byte first
 * @property {number} width
 * @property {number[]} least of each array: its least value
 * @property {number[]} radix of each array: how many values a digit of it has
 */

/**
 * The digits of a batch; null where its numbers would not take fewer bytes than its arrays.
 *
 * @param {Uint8Array[]} arrays bases and qualities, the lowest digit first
 * @returns {Digits | null}
 */
export function digitsOf(arrays) {
  const ranges = arrays.map(rangeOf);
  const least = ranges.map(([low]) => low);
  const radix = ranges.map(([low, high]) => high - low + 1);
  const varying = arrays.map((_, k) => k).filter((k) => radix[k] > 1);
  const values = radix.reduce((product, own) => product * own, 1);
  const width = Array.from({ length: MOST_BYTES }, (_, k) => k + 1).find((bytes) => values <= 2 ** (8 * bytes));
  if (width === undefined || varying.length <= width) return null;
  const numbers = new Uint16Array(arrays[0].length);
  let weight = 1;
  for (const k of varying) {
    const own = arrays[k];
    for (let i = 0; i < own.length; i++) numbers[i] += weight * (own[i] - least[k]);
    weight *= radix[k];
  }
  const bytes = width === 1 ? Uint8Array.from(numbers) : new Uint8Array(numbers.buffer);
  return { numbers: bytes, width, least, radix };
}

/** @param {Uint8Array} values @returns {[number, number]} */
function rangeOf(values) {
  let low = 255;
  let high = 0;
  for (let i = 0; i < values.length; i++) {
    low = Math.min(low, values[i]);
    high = Math.max(high, values[i]);
  }
  return [low, high];
}
