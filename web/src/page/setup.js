// The files and options of a run, as the user gives them.

import { formatNumber, make } from "./components.js";
import { ChosenFiles, SLOTS, givenUrl } from "./files.js";

/** @typedef {import("./files.js").Slot} Slot */
/** @typedef {import("./files.js").Given} Given */

/** @type {Record<Slot, [string, string]>} */
const SLOT_TEXTS = {
  alignments: ["Alignments", "One sample or several"],
  reference: ["Reference", "The genome that the reads are aligned to, or a part of it"],
  variants: ["Variants", "Optional: a VCF of the variants to genotype. Without it, they are found in the reads"],
  intervals: ["Regions", "Optional: a BED. Or type a region below"],
  tables: ["Tables of a cohort", "Of map draw, map distances and map relate. They are shown without a run"],
};

/** The options that the page has, with the command line's defaults. */
const NUMBERS = /** @type {const} */ ([
  ["minMapq", "Mapping quality, at least", 20, 0, 255, "--min-mapq"],
  ["minQual", "PASS from QUAL", 20, 0, 10000, "--min-qual"],
  ["maxDepth", "Reads of a sample, at most", 1000, 1, 100000, "--max-depth"],
  ["ploidy", "Ploidy", 2, 1, 20, "--ploidy"],
]);

const element = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

const ADDRESS = /^https?:\/\/[^/]+\/./;

/** The form. `onRun(inputs, options)` is called when the user asks for a run. */
export class Setup {
  /** @param {{onRun: (inputs: any, options: any) => void, onGpu: (gpu: "auto" | "off") => void, onTables: (tables: Given[]) => void, onProblem: (text: string) => void}} told */
  constructor(told) {
    this.told = told;
    this.files = new ChosenFiles();
    this.isReady = false;
    this.isRunning = false;
    this.box = /** @type {HTMLDetailsElement} */ (element("setup"));
    this.button = /** @type {HTMLButtonElement} */ (element("run"));
    element("options").append(...this.#options());
    this.#heed();
    this.#showFiles();
  }

  #options() {
    this.region = make("input", {
      id: "region",
      type: "text",
      placeholder: "chr1:10,000-20,000",
      spellcheck: "false",
      autocomplete: "off",
      oninput: () => this.update(),
    });
    this.model = make(
      "select",
      { id: "model" },
      make("option", { value: "gatk" }, "GATK's"),
      make("option", { value: "profile" }, "profile"),
    );
    this.gpu = make(
      "select",
      { id: "gpu", onchange: () => this.told.onGpu(/** @type {"auto" | "off"} */ (this.gpu?.value)) },
      make("option", { value: "auto" }, "GPU or CPU"),
      make("option", { value: "off" }, "CPU"),
    );
    this.numbers = NUMBERS.map(([name, , value, min, max]) =>
      make("input", { id: name, type: "number", value, min, max, step: 1, required: true }),
    );
    return [
      field("Region", this.region, "-r"),
      field("Model", this.model, "--model"),
      ...this.numbers.map((input, index) => field(NUMBERS[index][1], input, NUMBERS[index][5])),
      field("Compute on", this.gpu, "--backend"),
    ];
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
    const before = this.#tables();
    for (const problem of this.files.add(given)) this.told.onProblem(problem);
    this.#showFiles();
    this.#tellTables(before);
  }

  #tables() {
    return this.files.of("tables");
  }

  /** @param {Given[]} before */
  #tellTables(before) {
    const now = this.#tables();
    if (now.length !== before.length || now.some((one, index) => one !== before[index])) this.told.onTables(now);
  }

  run() {
    const options = Object.fromEntries(NUMBERS.map(([name], index) => [name, Number(this.numbers?.[index].value)]));
    const inputs = this.files.inputs();
    this.told.onRun(
      { ...inputs, region: this.region?.value.trim() || undefined },
      { ...options, model: this.model?.value, listedOnly: Boolean(inputs.variants) },
    );
  }

  /** @param {{isReady?: boolean, isRunning?: boolean}} state */
  become(state) {
    Object.assign(this, state);
    if (state.isRunning) this.box.open = false;
    this.update();
  }

  #showFiles() {
    element("slots").replaceChildren(...SLOTS.map((slot) => this.#slot(slot)));
    this.update();
  }

  update() {
    const lacking = ["alignments", "reference"].filter((slot) => !this.files.of(/** @type {Slot} */ (slot)).length);
    const region = this.region?.value.trim() ?? "";
    this.button.disabled = !this.isReady || this.isRunning || lacking.length > 0;
    element("missing").textContent = lacking.length ? `Still needed: ${lacking.join(" and ")}` : "";
    const names = SLOTS.flatMap((slot) => this.files.of(slot).map(({ name }) => name));
    element("chosen").textContent = this.box.open ? "" : [...names, region].filter(Boolean).join(" · ");
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
    const before = this.#tables();
    this.files.remove(name);
    this.#showFiles();
    this.#tellTables(before);
    element("files").focus();
  }
}

/** @param {File} file @returns {Given} */
const givenFile = (file) => ({ name: file.name, data: file, size: file.size });

/** @param {string} title @param {HTMLElement} input @param {string} option the command line's */
function field(title, input, option) {
  return make("label", { class: "field", title: `As ${option} of pairhmm call` }, make("span", {}, title), input);
}

/** @param {number} bytes */
function formatSize(bytes) {
  const units = ["bytes", "kB", "MB", "GB"];
  const power = Math.min(3, Math.max(0, Math.floor(Math.log10(Math.max(bytes, 1)) / 3)));
  const value = bytes / 1000 ** power;
  return `${formatNumber(value, power && value < 10 ? 1 : 0)} ${units[power]}`;
}
