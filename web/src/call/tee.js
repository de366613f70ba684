// Several iterators over the items of one, which is read once: items are held until all have taken them.

/**
 * @template Item
 * @param {AsyncGenerator<Item>} items
 * @param {number} count
 * @returns {AsyncGenerator<Item>[]}
 */
export function tee(items, count) {
  const queues = Array.from({ length: count }, () => /** @type {Item[]} */ ([]));
  /** @type {Promise<boolean> | null} whether there was one more */
  let reading = null;
  const more = () => {
    reading ??= items.next().then(({ value, done }) => {
      reading = null;
      if (!done) for (const queue of queues) queue.push(value);
      return !done;
    });
    return reading;
  };
  /** @param {Item[]} queue */
  async function* copy(queue) {
    while (queue.length || (await more())) {
      if (queue.length) yield /** @type {Item} */ (queue.shift());
    }
  }
  return queues.map(copy);
}
