// Sequences laid end to end in one flat array, with the offset at which each begins (pairhmm/sequences/arrays.py).

/** Where each sequence begins, and where the last one ends. @param {ArrayLike<number>} lengths */
export function offsets(lengths) {
  const first = new Uint32Array(lengths.length + 1);
  for (let i = 0; i < lengths.length; i++) first[i + 1] = first[i] + lengths[i];
  return first;
}

/**
 * Arrays of one kind, end to end; bytes where there are none.
 *
 * @template {Uint8Array | Uint16Array | Int32Array | Uint32Array} Kind
 * @param {Kind[]} parts
 * @returns {Kind}
 */
export function joined(parts) {
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  const whole = new /** @type {any} */ (parts[0]?.constructor ?? Uint8Array)(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * The index of the first value, of values in ascending order, that is not below `wanted`.
 *
 * @param {ArrayLike<number>} values
 * @param {number} wanted
 */
export function lowerBound(values, wanted) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
