// The sites of a run as columns, as the report's page takes them (pairhmm/report/sites.py), and their panels.

import { kindOfSite, siteAlleles } from "./alleles.js";
import { explained } from "./deciding.js";
import { CONSTANTS, sizeOf } from "./panels.js";

/** @typedef {import("../call/events.js").CalledSite} CalledSite */
/** @typedef {import("../call/events.js").RegionEvent} RegionEvent */
/** @typedef {import("./panels.js").Panel} Panel */

const MOST_PANEL_BYTES = 256e6; // of all panels together; beyond it the oldest go
const NO_READS = "The reads of this site are no longer held in memory. Give its region and run again to see them.";

/**
 * Sites and their panels, ready to be posted from the worker.
 *
 * @typedef {object} RegionResult
 * @property {CalledSite[]} sites
 * @property {(number[] | null)[]} alleles of each site, those of the haplotypes
 * @property {Panel} panel
 */

/** @typedef {ReturnType<typeof emptySites>} Sites */

/**
 * What the report's components show.
 *
 * @typedef {object} Report
 * @property {typeof CONSTANTS} constants
 * @property {string[]} samples
 * @property {[string, string][]} inputs
 * @property {Sites} sites
 * @property {(number: number) => Promise<object>} panel
 * @property {string} noReads what is said of a site without a panel
 */

/** @param {RegionEvent} event @param {Panel} panel @returns {RegionResult} */
export function resultOf({ sites, variants, haplotypes }, panel) {
  return { sites, alleles: sites.map((site) => siteAlleles(site, variants, haplotypes)), panel };
}

/** Everything that a run has found so far. */
export class Results {
  /** @param {string[]} samples @param {number} [mostBytes] */
  constructor(samples, mostBytes = MOST_PANEL_BYTES) {
    this.mostBytes = mostBytes;
    /** @type {{panel: Panel | null, first: number, end: number}[]} panels, with their sites' numbers */
    this.held = [];
    this.bytes = 0;
    this.oldest = 0;
    /** @type {Report} */
    this.report = {
      constants: CONSTANTS,
      samples,
      inputs: [],
      sites: emptySites(samples),
      panel: async (number) => this.#opened(number),
      noReads: NO_READS,
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
  #opened(number) {
    const { panel } = this.held[number];
    if (!panel) throw new Error(`panel ${number} is no longer held`);
    const groups = panel.groups.map((group) => ({
      ...group,
      names: group.names.split("\n"),
      explained: group.unexplained.map((read) => explained(read, panel.parameters)),
    }));
    return { ...panel, groups };
  }
}

/** @param {string[]} samples */
function emptySites(samples) {
  return {
    chroms: /** @type {string[]} */ ([]),
    chrom: /** @type {number[]} */ ([]),
    pos: /** @type {number[]} */ ([]),
    id: /** @type {string[]} */ ([]),
    ref: /** @type {string[]} */ ([]),
    alts: /** @type {string[]} */ ([]),
    kind: /** @type {string[]} */ ([]),
    quality: /** @type {(number | null)[]} */ ([]),
    filters: /** @type {string[]} */ ([]),
    leastGq: /** @type {(number | null)[]} */ ([]),
    infoNames: /** @type {string[]} */ ([]),
    info: /** @type {string[][]} */ ([]),
    samples,
    calls: samples.map(emptyCalls),
    panels: /** @type {[number, number[] | null][][]} */ ([]),
  };
}

function emptyCalls() {
  return {
    gt: /** @type {string[]} */ ([]),
    ad: /** @type {number[][]} */ ([]),
    dp: /** @type {(number | null)[]} */ ([]),
    gq: /** @type {(number | null)[]} */ ([]),
    pl: /** @type {number[][]} */ ([]),
    ps: /** @type {string[]} */ ([]),
  };
}

/** @param {Sites} sites @param {CalledSite} site @param {[number, number[] | null][]} panels */
function addSite(sites, site, panels) {
  if (!sites.chroms.includes(site.chrom)) sites.chroms.push(site.chrom);
  sites.chrom.push(sites.chroms.indexOf(site.chrom));
  sites.pos.push(site.pos + 1);
  sites.id.push(site.id);
  sites.ref.push(site.ref);
  sites.alts.push(site.alts.join(","));
  sites.kind.push(kindOfSite(site));
  sites.quality.push(site.quality);
  sites.filters.push(site.filter);
  const qualities = site.calls.flatMap(({ quality }) => (quality === null ? [] : [quality]));
  sites.leastGq.push(qualities.length ? Math.min(...qualities) : null);
  site.calls.forEach((call, sample) => {
    const own = sites.calls[sample];
    own.gt.push(call.genotype);
    own.ad.push(call.depths);
    own.dp.push(call.depth);
    own.gq.push(call.quality);
    own.pl.push(call.likelihoods);
    own.ps.push(call.phaseSet);
  });
  sites.panels.push(panels);
}
