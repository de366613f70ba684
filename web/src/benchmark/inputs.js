// What the benchmark scores: random pairs and regions, like those of pairhmm/bench.

import { packBatch } from "../batch.js";
import { ERROR } from "../models/parameters.js";
import { numbers } from "./data.js";

/** @typedef {import("../batch.js").Batch} Batch */
/** @typedef {import("./data.js").BenchmarkData} BenchmarkData */
/** @typedef {import("./data.js").WorkloadSize} WorkloadSize */

const ROW_SIZE = 12;
const LEAST_QUALITY = 25; // of the bases of pairs
const QUALITIES = 16; // different ones

/**
 * A haplotype of `length` letters, and a read of it with errors: a batch of one pair of the profile model.
 *
 * @param {number} length
 * @param {BenchmarkData} data
 * @returns {Batch}
 */
export function makePair(length, { model }) {
  const next = numbers(length);
  const haplotype = Uint8Array.from({ length }, () => next(4));
  const kinds = new Uint16Array(length);
  for (let i = 0, at = 0; i < length; i++, at++) {
    const indel = next(600);
    if (indel === 0) at++;
    if (indel === 1) at--;
    const letter = haplotype[Math.min(Math.max(at, 0), length - 1)];
    const quality = next(QUALITIES);
    const isWrong = next(1e6) < 1e6 * ERROR[LEAST_QUALITY + quality];
    kinds[i] = QUALITIES * (isWrong ? (letter + 1 + next(3)) % 4 : letter) + quality;
  }
  const one = () => Uint32Array.of(0, 1);
  const none = () => new Uint8Array(0);
  return {
    groups: 1,
    pairs: 1,
    groupRead: one(),
    groupHaplotype: one(),
    readOffset: Uint32Array.of(0, length),
    haplotypeOffset: Uint32Array.of(0, length),
    haplotypes: haplotype,
    bases: none(),
    baseQuality: none(),
    insertionQuality: none(),
    deletionQuality: none(),
    gapQuality: none(),
    rows: distinctRows(model),
    kinds,
    startMatch: model.start[0],
    startDeletion: model.start[1],
  };
}

/** Probabilities of A C G T of a kind of base. @param {number} kind */
export function probabilitiesOf(kind) {
  const error = ERROR[LEAST_QUALITY + (kind % QUALITIES)];
  const letter = Math.floor(kind / QUALITIES);
  return [0, 1, 2, 3].map((own) => (own === letter ? 1 - error : error / 3));
}

/** The rows of all kinds. @param {BenchmarkData["model"]} model */
function distinctRows({ match, insertion, transitions }) {
  const rows = new Float64Array(4 * QUALITIES * ROW_SIZE);
  for (let kind = 0; kind < 4 * QUALITIES; kind++) {
    const p = probabilitiesOf(kind);
    const sum = (/** @type {(letter: number) => number} */ of) => p.reduce((all, own, a) => all + own * of(a), 0);
    const row = rows.subarray(kind * ROW_SIZE);
    for (let h = 0; h < 5; h++) row[h] = sum((a) => match[a][h]);
    row.set(transitions, 5);
    const inserted = sum((a) => insertion[a]);
    row[8] *= inserted;
    row[9] *= inserted;
  }
  return rows;
}

/**
 * Regions of a workload (pairhmm/bench/workloads.py): haplotypes with up to three substitutions, every third with a
 * deletion, and reads of them with errors.
 *
 * @param {WorkloadSize} workload
 * @param {number} regions
 * @param {BenchmarkData} data
 * @returns {Batch}
 */
export function makeWorkload(workload, regions, { indelQuality, gapQuality }) {
  const { reads, haplotypes, read_length: longest, haplotype_length: width, spread } = workload;
  const next = numbers(regions);
  const group = () => {
    const root = Uint8Array.from({ length: width }, () => next(4));
    const all = Array.from({ length: haplotypes }, (_, index) => {
      const own = root.slice();
      for (let count = next(4); count > 0; count--) own[next(width)] = next(4);
      if (index % 3 !== 2) return own;
      const first = 20 + next(width - 40);
      const end = first + 1 + next(5);
      return Uint8Array.from([...own.subarray(0, first), ...own.subarray(end)]);
    });
    const read = () => {
      const from = all[next(haplotypes)];
      const size = longest - (spread > 0 ? next(spread + 1) : 0);
      const at = next(from.length - size + 1);
      const quality = Uint8Array.from({ length: size }, () => 22 + next(10) + next(10));
      const bases = from.slice(at, at + size);
      for (let i = 0; i < size; i++) if (next(1e6) < 1e6 * ERROR[quality[i]]) bases[i] = (bases[i] + 1 + next(3)) % 4;
      const indels = { insertionQuality: indelQuality, deletionQuality: indelQuality, gapQuality };
      return { bases, baseQuality: quality, ...indels };
    };
    return { haplotypes: all, reads: Array.from({ length: reads }, read) };
  };
  return packBatch(Array.from({ length: regions }, group));
}
