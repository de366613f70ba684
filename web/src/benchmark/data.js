// What Python exports for the benchmark page (`python -m pairhmm.bench.browser`), and times.

/**
 * @typedef {object} WorkloadSize
 * @property {number} regions
 * @property {number} reads of a region
 * @property {number} haplotypes of a region
 * @property {number} read_length
 * @property {number} haplotype_length
 * @property {number} spread read lengths vary from read_length - spread to read_length
 */

/**
 * @typedef {object} BenchmarkData
 * @property {{match: number[][], insertion: number[], transitions: number[], start: [number, number]}} model
 * @property {Record<string, WorkloadSize>} workloads
 * @property {number} indelQuality
 * @property {number} gapQuality
 */

/** Middle value. @param {number[]} values */
export function median(values) {
  return values.slice().sort((a, b) => a - b)[values.length >> 1];
}

/**
 * Seconds of each run, after one that is not counted.
 *
 * @param {() => Promise<unknown>} run
 * @param {number} repetitions
 */
export async function timed(run, repetitions) {
  await run();
  const seconds = [];
  for (let count = 0; count < repetitions; count++) {
    const begin = performance.now();
    await run();
    seconds.push((performance.now() - begin) / 1000);
  }
  return seconds;
}

/** Numbers from 0 to `below` - 1, the same on every machine. @param {number} seed */
export function numbers(seed) {
  let state = (seed * 2654435761) >>> 0;
  return (/** @type {number} */ below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
