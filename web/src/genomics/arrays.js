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
 * Slices of a flat array, end to end: slice i begins at `starts[i]` and ends up at `target[i]`.
 *
 * @template {Uint8Array | Uint32Array} Kind
 * @param {Kind} source
 * @param {ArrayLike<number>} starts
 * @param {Uint32Array} target
 * @returns {Kind}
 */
export function gather(source, starts, target) {
  const gathered = new /** @type {any} */ (source.constructor)(target[target.length - 1]);
  for (let i = 0; i < starts.length; i++) {
    gathered.set(source.subarray(starts[i], starts[i] + target[i + 1] - target[i]), target[i]);
  }
  return gathered;
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

/** @param {number[]} values */
export function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
