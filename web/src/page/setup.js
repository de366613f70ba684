// The files and options of a run, as the user gives them.

import { formatNumber, make } from "./components.js";
import { ChosenFiles, SLOTS, givenUrl } from "./files.js";
import { RunOptions } from "./run_options.js";
import { element } from "./status.js";

/** @import { Slot, Given } from "./files.js" */

/** @type {Record<Slot, [string, string]>} */
const SLOT_TEXTS = {
  alignments: ["Alignments", "One sample or several"],
  reference: ["Reference", "The genome that the reads are aligned to, or a part of it"],
  variants: ["Variants", "Optional: a VCF of the variants to genotype. Without it, they are found in the reads"],
  intervals: ["Regions", "Optional: a BED. Or type a region below"],
  primers: ["Primers", "Of a tiling scheme: their bases are no evidence"],
  strModel: ["STR model", "Gap qualities in repeats, of pairhmm calibrate-str"],
  pedigree: ["Pedigree", "Children have alleles of their parents, where all three are samples"],
  tables: ["Tables of a cohort", "Of map draw, map distances and map relate. They are shown without a run"],
};

/** Slots that are shown once they have a file. @type {Slot[]} */
const RARE = ["primers", "strModel", "pedigree"];

const ADDRESS = /^https?:\/\/[^/]+\/./;

/** The form. `onRun(inputs, options)` is called when the user asks for a run. */
export class Setup {
  /** @param {{onRun: (inputs: any, options: any) => void, onGpu: (gpu: "auto" | "off") => void, onTables: (tables: Given[]) => void, onPossible: (isPossible: boolean) => void, onProblem: (text: string) => void}} told */
  constructor(told) {
    this.told = told;
    this.files = new ChosenFiles();
    this.isReady = false;
    this.isRunning = false;
    this.box = /** @type {HTMLDetailsElement} */ (element("setup"));
    this.button = /** @type {HTMLButtonElement} */ (element("run"));
    this.options = new RunOptions({ onRegion: () => this.update(), onGpu: told.onGpu });
    element("options").append(...this.options.fields);
    this.#heed();
    this.#showFiles();
  }

  #heed() {
    this.box.addEventListener("toggle", () => this.update());
    const chooser = /** @type {HTMLInputElement} */ (element("files"));
    chooser.addEventListener("change", () => {
      this.take(Array.from(chooser.files ?? [], givenFile));
      chooser.value = "";
    });
    const page = document.documentElement;
    const mark = (/** @type {boolean} */ isOver) => element("drop").classList.toggle("over", isOver);
    page.addEventListener("dragover", (event) => (event.preventDefault(), mark(true)));
    page.addEventListener("dragleave", () => mark(false));
    page.addEventListener("drop", (event) => {
      event.preventDefault();
      mark(false);
      this.take(Array.from(event.dataTransfer?.files ?? [], givenFile));
    });
    element("form").addEventListener("submit", (event) => {
      event.preventDefault();
      if (!this.button.disabled) this.run();
    });
    this.#heedUrls();
  }

  #heedUrls() {
    if (!("urls" in document.documentElement.dataset)) return;
    element("urls").hidden = false;
    element("privacy").textContent = "No file of yours leaves this computer; addresses are fetched.";
    element("addaddresses").addEventListener("click", () => {
      const box = /** @type {HTMLTextAreaElement} */ (element("addresses"));
      const lines = box.value.split(/\s+/).filter(Boolean);
      const wrong = lines.filter((line) => !ADDRESS.test(line));
      this.take(lines.filter((line) => ADDRESS.test(line)).map(givenUrl));
      for (const line of wrong) this.told.onProblem(`${line}: is no address; give one that begins with https://`);
      box.value = wrong.join("\n");
    });
  }

  /** @param {Given[]} given */
  take(given) {
    this.told.onProblem("");
    this.#change(() => {
      for (const problem of this.files.add(given)) this.told.onProblem(problem);
    });
  }

  /** @param {() => void} act on the files */
  #change(act) {
    const before = this.files.of("tables");
    act();
    this.#showFiles();
    const now = this.files.of("tables");
    if (now.length !== before.length || now.some((one, index) => one !== before[index])) this.told.onTables(now);
  }

  get inputs() {
    return { ...this.files.inputs(), region: this.options.regionText || undefined };
  }

  run() {
    this.told.onRun(this.inputs, this.options.values());
  }

  /** @param {{isReady?: boolean, isRunning?: boolean}} state */
  become(state) {
    Object.assign(this, state);
    if (state.isRunning) this.box.open = false;
    this.update();
  }

  #showFiles() {
    const shown = SLOTS.filter((slot) => !RARE.includes(slot) || this.files.of(slot).length > 0);
    element("slots").replaceChildren(...shown.map((slot) => this.#slot(slot)));
    this.update();
  }

  update() {
    const lacking = ["alignments", "reference"].filter((slot) => !this.files.of(/** @type {Slot} */ (slot)).length);
    this.options.become({
      hasVariants: this.files.of("variants").length > 0,
      hasStrModel: this.files.of("strModel").length > 0,
    });
    this.button.disabled = !this.isReady || this.isRunning || lacking.length > 0;
    this.told.onPossible(this.isReady && lacking.length === 0);
    element("missing").textContent = lacking.length ? `Still needed: ${lacking.join(" and ")}` : "";
    const names = SLOTS.flatMap((slot) => this.files.of(slot).map(({ name }) => name));
    element("chosen").textContent = this.box.open ? "" : [...names, ...this.options.told].filter(Boolean).join(" · ");
  }

  /** @param {Slot} slot */
  #slot(slot) {
    const [title, told] = SLOT_TEXTS[slot];
    const own = this.files.of(slot);
    const missing = this.files.missing(slot);
    const strays = slot === "alignments" ? this.files.strays() : [];
    return make(
      "section",
      { class: own.length ? "slot full" : "slot", "aria-label": title },
      make("h3", {}, title),
      own.length ? null : make("p", { class: "told" }, missing || told),
      ...own.map((one) => this.#file(one)),
      ...strays.map((one) => this.#file(one, `Its file is missing: ${one.name.replace(/\.[^.]+$/, "")}`)),
      own.length && missing ? make("p", { class: "lacks" }, missing) : null,
    );
  }

  /** @param {Given} one @param {string} [lacks] */
  #file(one, lacks = "") {
    const beside = this.files.indexesOf(one.name).map(({ name }) => name.slice(name.lastIndexOf(".")));
    const facts = [one.size === null ? "address" : formatSize(one.size), ...beside];
    return make(
      "p",
      { class: "file" },
      make("b", {}, one.name),
      make("span", { class: "told" }, facts.join(", ")),
      lacks ? make("span", { class: "lacks" }, lacks) : null,
      make(
        "button",
        { type: "button", class: "remove", "aria-label": `Remove ${one.name}`, onclick: () => this.#remove(one.name) },
        "×",
      ),
    );
  }

  /** @param {string} name */
  #remove(name) {
    this.#change(() => this.files.remove(name));
    element("files").focus();
  }
}

/** @param {File} file @returns {Given} */
const givenFile = (file) => ({ name: file.name, data: file, size: file.size });

/** @param {number} bytes */
function formatSize(bytes) {
  const units = ["bytes", "kB", "MB", "GB"];
  const power = Math.min(3, Math.max(0, Math.floor(Math.log10(Math.max(bytes, 1)) / 3)));
  const value = bytes / 1000 ** power;
  return `${formatNumber(value, power && value < 10 ? 1 : 0)} ${units[power]}`;
}
