// Regions as users write them, and BED files, as 0-based half-open intervals (pairhmm/sequences/intervals.py).

import { listed, quoted, sameContig } from "./names.js";
import { InputProblem } from "./problem.js";
import { SourceFile } from "./sources.js";
import { textLines } from "./text_lines.js";

/** @typedef {{chrom: string, start: number, end: number}} Interval */
/** @import { Source } from "./sources.js" */

const COORDINATES = /^(.+):([\d,]+)(-[\d,]*)?$/s;
const BRACES = /^\{(.+)\}(?::([\d,]+)(-[\d,]*)?)?$/s;
export const MOST_DIGITS = 18;
const LONGEST_SHOWN = 100;
/** @typedef {{has: (name: string) => boolean}} Contigs */
const NONE = new Set();
const BED_HEADERS = ["track", "browser"];

/**
 * `chr`, `chr:position`, `chr:begin-` or `chr:begin-end`, 1-based inclusive, with or without commas in numbers. Braces
 * around a name say where it ends: `{chr:1}:5-9`. On a circle, `chr:begin-end` goes over the origin if it ends before it
 * begins, or behind the last base; the interval then ends behind the last base.
 *
 * @param {string} text
 * @param {Map<string, number>} contigs lengths
 * @returns {Interval}
 */
export function parseRegion(text, contigs, option = "-r", /** @type {Contigs} */ circles = NONE) {
  const found = readings(text, contigs);
  if (!found.length) throw notARegion(text, contigs, option);
  if (found.length > 1) {
    const { chrom } = found[1];
    const part = short(`{${chrom}}${text.slice(chrom.length)}`);
    const rule = `is the name of a contig, and a part of contig ${quoted(short(chrom))}`;
    const cure = `write ${quoted(short(`{${text}}`))} or ${quoted(part)}`;
    throw new InputProblem(option, short(text), rule, cure);
  }
  const [{ chrom, first, last }] = found;
  const length = /** @type {number} */ (contigs.get(chrom));
  if (first === undefined) return { chrom, start: 0, end: length };
  const begin = number(first);
  const end = last === undefined ? begin : last === "-" ? Infinity : number(last.slice(1));
  const isCircle = circles.has(chrom) && last !== undefined && last !== "-";
  if (begin === undefined || end === undefined || begin < 1 || (end < begin && (!isCircle || end < 1))) {
    throw notAnInterval(text, option);
  }
  if (end === begin - 1) {
    const cure = `write ${chrom} for the whole circle, or mend the range`;
    throw new InputProblem(option, short(text), "ends just before it begins", cure);
  }
  if (begin > length) {
    const rule = `outside ${chrom}, which has ${length} bases`;
    throw new InputProblem(option, text, rule, "choose a region inside");
  }
  const most = isCircle ? begin - 1 + length : length;
  return { chrom, start: begin - 1, end: end < begin ? end + length : Math.min(end, most) };
}

/**
 * The ways to read a region. Of two, the first is the name of a contig.
 *
 * @param {string} text
 * @param {Map<string, number>} contigs
 * @returns {{chrom: string, first?: string, last?: string}[]}
 */
function readings(text, contigs) {
  const braced = BRACES.exec(text);
  if (braced && contigs.has(braced[1])) return [{ chrom: braced[1], first: braced[2], last: braced[3] }];
  const found = COORDINATES.exec(text);
  return [
    ...(contigs.has(text) ? [{ chrom: text }] : []),
    ...(found && contigs.has(found[1]) ? [{ chrom: found[1], first: found[2], last: found[3] }] : []),
  ];
}

/** @param {string} text @param {string} option */
function notAnInterval(text, option) {
  return new InputProblem(option, short(text), "not an interval", "write chr:begin-end, 1-based, begin <= end");
}

/** @param {string} text @param {Map<string, number>} contigs @param {string} option */
function notARegion(text, contigs, option) {
  const parts = text.split(",");
  if (parts.length > 1 && parts.some((part) => contigs.has(part.split(":")[0]))) {
    const each = parts.slice(0, 3).map((part) => `${option} ${part}`);
    return new InputProblem(option, short(text), "more than one region", `give each by itself: ${each.join(" ")}`);
  }
  const separators = [...text.matchAll(/[:\s]/g)];
  if (separators.some(({ index }) => contigs.has(text.slice(0, index)))) return notAnInterval(text, option);
  const found = BRACES.exec(text) ?? COORDINATES.exec(text);
  return noContig(option, text, found ? found[1] : text, contigs);
}

/**
 * Intervals of a BED file, merged and in the order of `contigs`. One without an interval is announced.
 *
 * @param {{name: string, data: Source}} file
 * @param {Map<string, number>} contigs
 * @param {(text: string) => void} warn
 */
export async function readBed(file, contigs, warn, /** @type {Contigs} */ circles = NONE) {
  /** @type {Interval[]} */
  const intervals = [];
  for await (const { interval } of bedLines(file, contigs, circles)) intervals.push(interval);
  if (!intervals.length) warn(`${file.name}: no region in it, so that nothing is asked for`);
  return merge(intervals, contigs);
}

/**
 * The intervals of a BED file, each with the cells of its line.
 *
 * @param {{name: string, data: Source}} file
 * @param {Map<string, number>} contigs
 * @returns {AsyncGenerator<{interval: Interval, cells: string[], place: string}>}
 */
export async function* bedLines({ name, data }, contigs, /** @type {Contigs} */ circles = NONE) {
  let at = 0;
  for await (const lines of textLines(new SourceFile(name, data))) {
    for (const line of lines) {
      const place = `line ${++at}`;
      const cells = line.trim().split(/\s+/);
      const isHeader = line.startsWith("#") || BED_HEADERS.includes(cells[0]);
      if (cells[0] && !isHeader) yield { interval: bedInterval(name, place, cells, contigs, circles), cells, place };
    }
  }
}

/**
 * Intervals by contig and position. Those that overlap or touch are joined.
 *
 * @param {Interval[]} intervals
 * @param {Map<string, number>} contigs
 */
export function merge(intervals, contigs) {
  const rank = rankOf(contigs.keys());
  /** @param {Interval} one */
  const of = (one) => /** @type {number} */ (rank.get(one.chrom));
  const sorted = [...intervals].sort((a, b) => of(a) - of(b) || a.start - b.start || a.end - b.end);
  /** @type {Interval[]} */
  const merged = [];
  for (const one of sorted) {
    const last = merged.at(-1);
    if (last && last.chrom === one.chrom && one.start <= last.end) last.end = Math.max(last.end, one.end);
    else merged.push({ ...one });
  }
  return merged;
}

/** The place of each contig in an order. @param {Iterable<string>} contigs @returns {Map<string, number>} */
export function rankOf(contigs) {
  return new Map([...contigs].map((name, index) => [name, index]));
}

/** @param {string} place @param {string} record @param {string} name @param {Map<string, number>} contigs */
export function noContig(place, record, name, contigs) {
  const other = sameContig(name, contigs.keys());
  const cure = other ? `the reference names it ${quoted(other)}` : `contigs are ${listed([...contigs.keys()])}`;
  return new InputProblem(place, short(record), `no contig ${quoted(short(name))}`, cure);
}

/** @param {string} text */
function short(text) {
  return text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN)}...`;
}

/** @param {string} text */
function number(text) {
  const digits = text.replaceAll(",", "");
  return digits.length > 0 && digits.length <= MOST_DIGITS ? Number(digits) : undefined;
}

/** @param {string} path @param {string} place @param {string[]} cells @param {Map<string, number>} contigs @param {Contigs} circles @returns {Interval} */
function bedInterval(path, place, [chrom, from, to], contigs, circles) {
  const isNumber = [from, to].every((text) => text && /^\d+$/.test(text) && text.length <= MOST_DIGITS);
  if (!isNumber) throw new InputProblem(path, place, "not `chrom start end`", "BED is tab-separated, 0-based");
  const [start, end, length] = [Number(from), Number(to), contigs.get(chrom)];
  if (length === undefined) throw noContig(path, place, chrom, contigs);
  if (start >= end) {
    const base = Math.max(1, end);
    const cure =
      start > end
        ? "write start < end; over the origin of a circle (--circular), end is behind the last base"
        : `BED is 0-based half-open: base ${base} is ${base - 1} ${base}; take 1 from each start of a 1-based file`;
    throw new InputProblem(path, place, `${start}-${end} is an interval without a base`, cure);
  }
  if (start >= length || end > (circles.has(chrom) ? start + length : length)) {
    const rule = `${start}-${end} is not inside ${chrom}, which has ${length} bases`;
    throw new InputProblem(path, place, rule, "positions here are 0-based half-open");
  }
  return { chrom, start, end };
}
