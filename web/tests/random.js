// Made-up reads and haplotypes, the same on every machine.

/** @import { Group } from "../src/batch.js" */

const LETTERS = "ACGT";

/** Numbers from 0 to 1, by a linear congruential generator. @param {number} seed */
export function random(seed) {
  let state = seed * 2654435761 + 1;
  return () => (state = (state * 1664525 + 1013904223) % 2 ** 32) / 2 ** 32;
}

/**
 * Groups whose haplotypes differ in few letters. Reads of 150 bases are pieces of the haplotypes, with errors.
 *
 * @param {{groups: number, reads: number, haplotypes: number, seed: number}} wanted
 * @returns {Group[]}
 */
export function randomGroups({ groups, reads, haplotypes, seed }) {
  const next = random(seed);
  const letter = () => LETTERS[Math.floor(4 * next())];
  const changed = (/** @type {string} */ text, /** @type {number} */ rate) =>
    Array.from(text, (own) => (next() < rate ? letter() : own)).join("");
  return Array.from({ length: groups }, () => {
    const first = Array.from({ length: 300 }, letter).join("");
    const all = Array.from({ length: haplotypes }, (_, index) => (index === 0 ? first : changed(first, 0.02)));
    const read = () => {
      const from = all[Math.floor(next() * all.length)];
      const at = Math.floor(next() * 150);
      const bases = changed(from.slice(at, at + 150), 0.01);
      return { bases, baseQuality: Array.from(bases, () => 10 + Math.floor(30 * next())) };
    };
    return { reads: Array.from({ length: reads }, read), haplotypes: all };
  });
}
