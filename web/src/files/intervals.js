// Regions as users write them, and BED files, as 0-based half-open intervals (pairhmm/io/sequences/intervals.py).

import { listed, quoted, sameContig } from "./contig_names.js";
import { InputProblem } from "./problem.js";
import { SourceFile } from "./sources.js";
import { textLines } from "./text_lines.js";

/** @typedef {{chrom: string, start: number, end: number}} Interval */
/** @typedef {import("./sources.js").Source} Source */

const COORDINATES = /^(.+):([\d,]+)(?:-([\d,]*))?$/s;
export const MOST_DIGITS = 18;
const LONGEST_SHOWN = 100;

/**
 * `chr`, `chr:begin`, `chr:begin-` or `chr:begin-end`, 1-based inclusive, with or without commas in numbers.
 *
 * @param {string} text
 * @param {Map<string, number>} contigs lengths
 * @returns {Interval}
 */
export function parseRegion(text, contigs, option = "-r") {
  const whole = contigs.get(text);
  if (whole !== undefined) return { chrom: text, start: 0, end: whole };
  const found = COORDINATES.exec(text);
  const length = found ? contigs.get(found[1]) : undefined;
  if (!found || length === undefined) {
    const parts = text.split(",");
    if (parts.length > 1 && parts.some((part) => contigs.has(part.split(":")[0]))) {
      const each = parts.slice(0, 3).map((part) => `${option} ${part}`);
      throw new InputProblem(option, short(text), "more than one region", `give each by itself: ${each.join(" ")}`);
    }
    throw noContig(option, text, found ? found[1] : text, contigs);
  }
  const begin = number(found[2]);
  const end = found[3] ? number(found[3]) : length;
  if (begin === undefined || end === undefined || begin < 1 || end < begin) {
    const cure = "write chr:begin-end, 1-based, begin <= end";
    throw new InputProblem(option, short(text), "not an interval", cure);
  }
  if (begin > length) {
    const rule = `outside ${found[1]}, which has ${length} bases`;
    throw new InputProblem(option, text, rule, "choose a region inside");
  }
  return { chrom: found[1], start: begin - 1, end: Math.min(end, length) };
}

/**
 * Intervals of a BED file, merged and in the order of `contigs`.
 *
 * @param {{name: string, data: Source}} file
 * @param {Map<string, number>} contigs
 */
export async function readBed(file, contigs) {
  /** @type {Interval[]} */
  const intervals = [];
  let at = 0;
  for await (const lines of textLines(new SourceFile(file.name, file.data))) {
    for (const line of lines) {
      at++;
      if (line.trim() && !/^(#|track|browser)/.test(line)) intervals.push(bedLine(file.name, at, line, contigs));
    }
  }
  return merge(intervals, contigs);
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
function noContig(place, record, name, contigs) {
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

/** @param {string} path @param {number} at @param {string} line @param {Map<string, number>} contigs @returns {Interval} */
function bedLine(path, at, line, contigs) {
  const [chrom, from, to] = line.trim().split(/\s+/);
  const isNumber = [from, to].every((text) => text && /^\d+$/.test(text) && text.length <= MOST_DIGITS);
  const place = `line ${at}`;
  if (!isNumber) throw new InputProblem(path, place, "not `chrom start end`", "BED is tab-separated, 0-based");
  const [start, end, length] = [Number(from), Number(to), contigs.get(chrom)];
  if (length === undefined) throw noContig(path, place, chrom, contigs);
  if (start > end || end > length) {
    const rule = `${start}-${end} is not inside ${chrom}, which has ${length} bases`;
    throw new InputProblem(path, place, rule, "BED is 0-based half-open");
  }
  return { chrom, start, end };
}
