// How a run goes: progress, warnings, the line of an error, downloads.

import { announce, formatNumber, formatSeconds, make, plural } from "./components.js";

const MOST_WARNINGS = 100;
/** @type {Record<string, [string, string]>} */
const DOWNLOADS = {
  records: ["calls.vcf", "Genotypes (VCF)"],
  likelihoods: ["likelihoods.tsv.gz", "Likelihoods (TSV)"],
  haplotypes: ["likelihoods.haplotypes.tsv.gz", "Haplotypes (TSV)"],
};

export const element = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** The card of a run. */
export class Status {
  constructor() {
    this.bar = /** @type {HTMLProgressElement} */ (element("progress"));
    this.began = 0;
    this.sites = 0;
    this.first = 0;
    this.warnings = 0;
    /** @type {string[]} */
    this.addresses = [];
    /** @type {string[]} lines about what computes */
    this.engine = [];
  }

  /** What the engine says: a line of this run and of those that follow. @param {string} text */
  tellEngine(text) {
    this.engine.push(text);
    this.note(text);
  }

  begin() {
    this.began = performance.now();
    this.first = this.sites = this.warnings = 0;
    for (const address of this.addresses.splice(0)) URL.revokeObjectURL(address);
    for (const id of ["status", "cancel"]) element(id).hidden = false;
    for (const id of ["downloads", "warnings", "notes"]) {
      element(id).hidden = true;
      element(id).replaceChildren();
    }
    for (const text of this.engine) this.note(text);
    this.bar.removeAttribute("value");
    element("state").textContent = "Reading the files …";
    announce("The run has begun");
  }

  /** @param {number} sites so far */
  found(sites) {
    this.sites = sites;
    if (!this.first) {
      this.first = (performance.now() - this.began) / 1000;
      document.documentElement.dataset.firstSeconds = this.first.toFixed(3);
    }
  }

  /** @param {{done: number, of: number}} event */
  progress({ done, of }) {
    this.bar.max = Math.max(of, 1);
    this.bar.value = done;
    const share = Math.floor((100 * done) / Math.max(of, 1));
    element("state").textContent = `${share}%, ${plural(this.sites, "site")} so far`;
  }

  /** @param {string} text */
  warn(text) {
    const list = element("warnings");
    list.hidden = false;
    this.warnings += 1;
    if (this.warnings <= MOST_WARNINGS) list.append(make("li", {}, text));
    else if (this.warnings === MOST_WARNINGS + 1) list.append(make("li", {}, "More warnings are not shown."));
  }

  /** What the command line says as information. @param {string} text */
  note(text) {
    element("notes").append(make("li", {}, text));
    element("notes").hidden = false;
  }

  /** @param {Record<string, number>} counts @param {Record<string, Blob>} downloads */
  end(counts, downloads) {
    const seconds = (performance.now() - this.began) / 1000;
    this.#over(1);
    const told = [
      plural(this.sites, "site"),
      plural(counts.regions ?? 0, "region"),
      `${plural(counts.reads ?? 0, "read")}${counts.setAside ? ` (${formatNumber(counts.setAside)} set aside)` : ""}`,
      plural(counts.pairs ?? 0, "pair"),
      formatSeconds(seconds),
    ];
    element("state").textContent = `Done: ${told.join(", ")}`;
    announce(`Done: ${told.join(", ")}`);
    element("downloads").hidden = false;
    for (const [key, [name, title]] of Object.entries(DOWNLOADS)) {
      element("downloads").append(this.#link(downloads[key], name, title));
    }
  }

  /** @param {string} how a run ended before its end */
  stop(how) {
    const text = this.sites ? `${how}. The sites so far stay; there is nothing to download.` : `${how}.`;
    this.#over(0);
    element("state").textContent = text;
    announce(text);
  }

  /** @param {number} share */
  #over(share) {
    this.bar.max = 1;
    this.bar.value = share;
    element("cancel").hidden = true;
  }

  /** @param {Blob} blob @param {string} name @param {string} title */
  #link(blob, name, title) {
    const address = URL.createObjectURL(blob);
    this.addresses.push(address);
    return make("a", { class: "button", href: address, download: name }, title);
  }
}

/** Shows the line of an error; an empty one takes them away. @param {string} text */
export function showProblem(text) {
  const place = element("problem");
  if (text === "") place.replaceChildren();
  else place.append(make("span", {}, text));
  place.hidden = place.childElementCount === 0;
  if (text !== "") place.scrollIntoView({ block: "nearest" });
}
