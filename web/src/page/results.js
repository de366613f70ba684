// The sites of a run as columns, as the report's page takes them (pairhmm/report/sites.py), and their panels.

import { kindOfSite, siteAlleles } from "./alleles.js";
import { explained } from "./deciding.js";
import { CONSTANTS, sizeOf } from "./panels.js";

/** @import { RegionEvent } from "../call/events.js" */
/** @import { Native } from "../cpu/native.js" */
/** @import { Panel } from "./panels.js" */

const MOST_PANEL_BYTES = 256e6; // of all panels together; beyond it the oldest go
const NO_READS = "The reads of this site are no longer held in memory. Give its region and run again to see them.";

/**
 * Sites and their panels, ready to be posted from the worker.
 *
 * @typedef {object} RegionResult
 * @property {string[][]} sites fields of their records
 * @property {(number[] | null)[]} alleles of each site, those of the haplotypes
 * @property {Panel} panel
 */

/** @typedef {ReturnType<typeof emptySites>} Sites */

/** @typedef {Results["report"]} Report what the report's components show */

/** @param {RegionEvent} event @param {Panel} panel @returns {RegionResult} */
export function resultOf({ records }, panel) {
  const lines = records.split("\n").map((line) => line.split("\t"));
  // Blocks of the reference have no QUAL.
  const sites = lines.filter(([, , , , , quality, , , format]) => format && quality !== ".");
  return { sites, alleles: sites.map((site) => siteAlleles(site, panel)), panel };
}

/** Everything that a run has found so far. */
export class Results {
  /** @param {Promise<Native>} native @param {string[]} samples @param {number} [mostBytes] */
  constructor(native, samples, mostBytes = MOST_PANEL_BYTES) {
    this.native = native;
    this.mostBytes = mostBytes;
    /** @type {{panel: Panel | null, first: number, end: number}[]} panels, with their sites' numbers */
    this.held = [];
    this.bytes = 0;
    this.oldest = 0;
    this.report = {
      constants: CONSTANTS,
      samples,
      inputs: /** @type {[string, string][]} */ ([]),
      sites: emptySites(samples),
      panel: (/** @type {number} */ number) => this.#opened(number),
      noReads: NO_READS, // said of a site without a panel
    };
  }

  get count() {
    return this.report.sites.pos.length;
  }

  /** @param {RegionResult} result */
  add({ sites, alleles, panel }) {
    const first = this.count;
    sites.forEach((site, index) => addSite(this.report.sites, site, [[this.held.length, alleles[index]]]));
    this.held.push({ panel, first, end: this.count });
    this.bytes += sizeOf(panel);
    while (this.bytes > this.mostBytes && this.oldest < this.held.length - 1) this.#drop(this.held[this.oldest++]);
  }

  /** @param {Results["held"][number]} one */
  #drop(one) {
    if (one.panel) this.bytes -= sizeOf(one.panel);
    one.panel = null;
    this.report.sites.panels.fill([], one.first, one.end);
  }

  /** @param {number} number */
  async #opened(number) {
    const { panel } = this.held[number];
    if (!panel) throw new Error(`panel ${number} is no longer held`);
    const native = await this.native;
    const groups = panel.groups.map((group) => ({
      ...group,
      names: group.names.split("\n"),
      explained: group.unexplained.map((read) => explained(native, read, panel.parameters)),
    }));
    return { ...panel, groups };
  }
}

const OF_SITES = ["chroms", "chrom", "pos", "id", "ref", "alts", "kind", "quality", "filters", "leastGq", "panels"];
const NOT_KNOWN_HERE = ["infoNames", "info"];
const OF_CALLS = ["gt", "ad", "dp", "gq", "pl", "ps"];

/** @param {string[]} samples @returns {Record<string, any>} */
function emptySites(samples) {
  const calls = samples.map(() => emptyColumns(OF_CALLS));
  return { ...emptyColumns([...OF_SITES, ...NOT_KNOWN_HERE]), samples, calls };
}

/** @param {string[]} names @returns {Record<string, any[]>} */
const emptyColumns = (names) => Object.fromEntries(names.map((name) => [name, []]));

/** @param {Sites} sites @param {string[]} site fields of its record @param {[number, number[] | null][]} panels */
function addSite(sites, [chrom, pos, id, ref, alts, quality, filter, , format, ...columns], panels) {
  if (!sites.chroms.includes(chrom)) sites.chroms.push(chrom);
  sites.chrom.push(sites.chroms.indexOf(chrom));
  sites.pos.push(Number(pos));
  sites.id.push(known(id));
  sites.ref.push(ref);
  sites.alts.push(alts);
  sites.kind.push(kindOfSite(ref, alts.split(",")));
  sites.quality.push(Number(quality));
  sites.filters.push(filter);
  const keys = format.split(":");
  columns.forEach((column, sample) => {
    const values = column.split(":");
    const fields = Object.fromEntries(keys.map((key, index) => [key, values[index]]));
    const { GT, AD, DP, GQ = ".", PL = ".", PS = ".", AF, CIAF } = fields;
    const own = sites.calls[sample];
    own.gt.push(GT);
    own.ad.push(numbersOf(AD));
    own.dp.push(Number(DP));
    own.gq.push(GQ === "." ? null : Number(GQ));
    own.pl.push(numbersOf(PL));
    own.ps.push(known(PS));
    if (CIAF === undefined) return;
    // Of a mixture.
    (own.af ??= []).push(numbersOf(AF));
    (own.ciaf ??= []).push(numbersOf(CIAF));
  });
  const qualities = sites.calls.flatMap((/** @type {any} */ { gq }) => gq.at(-1) ?? []);
  sites.leastGq.push(qualities.length ? Math.min(...qualities) : null);
  sites.panels.push(panels);
}

/** A field; empty where it is missing. @param {string} field */
const known = (field) => (field === "." ? "" : field);

/** @param {string} field */
const numbersOf = (field) => (field === "." ? [] : field.split(",").map(Number));
