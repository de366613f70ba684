// The options of a run, under the names of the command line. tests/page/ compares what they do.

import { OPTIONS } from "../models/parameters.js";
import { make } from "./components.js";

/** @typedef {[least: number, most: number] | Record<string, string> | string} Values a number's, those of a choice with what is shown of them, or an example of names */

/** Names here, titles, and names of the command line. Without values, a field is a switch. @type {[string, string, string, Values?][]} */
const FIELDS = [
  ["preset", "Reads", "--preset", { illumina: "Illumina", hifi: "PacBio HiFi", ont: "Nanopore" }],
  ["model", "Model", "--model", { gatk: "GATK's", profile: "profile" }],
  [
    "strModel",
    "Gaps in repeats",
    "--str-model",
    { "": "GATK's PCR model", "pcr-free": "STR model, PCR-free", pcr: "STR model, PCR" },
  ],
  ["minMapq", "Mapping quality, at least", "--min-mapq", [0, 255]],
  ["minQual", "PASS from QUAL", "--min-qual", [0, 10000]],
  ["maxDepth", "Reads of a sample, at most", "--max-depth", [1, 100000]],
  ["mixture", "Mixture of haplotypes: fractions in place of genotypes", "--mixture"],
  ["ploidy", "Ploidy", "--ploidy", [1, 20]],
  ["circular", "Circular contigs", "--circular", "chrM"],
  ["gpu", "Compute on", "--backend", { auto: "GPU or CPU", off: "CPU" }],
  ["indelTags", "Gap qualities of tags BI and BD", "--indel-tags"],
  ["mnv", "Neighbouring SNVs as one record", "--mnv"],
  ["gvcf", "gVCF: blocks of the reference, too", "--gvcf"],
];

/** The fields of a run's options. */
export class RunOptions {
  /** @param {{onRegion: () => void, onGpu: (gpu: "auto" | "off") => void}} told */
  constructor({ onRegion, onGpu }) {
    this.region = textInput("region", "chr1:10,000-20,000");
    this.region.addEventListener("input", onRegion);
    /** @type {Record<string, any>} */
    this.inputs = Object.fromEntries(FIELDS.map(([name, , , values]) => [name, inputOf(name, values)]));
    this.inputs.model.addEventListener("change", () => this.become(this.files));
    this.inputs.gpu.addEventListener("change", () => onGpu(this.inputs.gpu.value));
    this.inputs.mixture.addEventListener("change", () => this.become(this.files));
    this.files = { hasVariants: false, hasStrModel: false };
  }

  /** What the form shows. */
  get fields() {
    const others = FIELDS.map(([name, title, option]) => fieldOf(title, this.inputs[name], option));
    return [fieldOf("Region", this.region, "-r"), ...others];
  }

  get regionText() {
    return this.region.value.trim();
  }

  /** Switches off what the files or the model leave without effect. @param {{hasVariants: boolean, hasStrModel: boolean}} files */
  become(files) {
    this.files = files;
    const { model, strModel, indelTags, mnv, gvcf, mixture, ploidy } = this.inputs;
    indelTags.disabled = model.value === "profile";
    strModel.disabled = indelTags.disabled || files.hasStrModel;
    mnv.disabled = files.hasVariants;
    gvcf.disabled = files.hasVariants || mixture.checked;
    ploidy.disabled = mixture.checked;
  }

  /** What was chosen in place of a default, for a closed form. */
  get told() {
    const { preset, model, strModel, circular, mixture, mnv, gvcf } = this.inputs;
    const chosen = [preset, model, strModel].filter((one) => one.selectedIndex > 0 && !one.disabled);
    const records = [valueOf(mnv) ? "neighbouring SNVs as one record" : "", valueOf(gvcf) ? "gVCF" : ""];
    const circles = valueOf(circular).map((/** @type {string} */ name) => `circle ${name}`);
    const sample = valueOf(mixture) ? "mixture of haplotypes" : "";
    return [this.regionText, ...chosen.map((one) => one.selectedOptions[0].text), sample, ...circles, ...records];
  }

  /** Options of the command line and their values, but those that are off. @returns {[string, string][]} */
  get asTyped() {
    const values = FIELDS.flatMap(([name, , option]) =>
      [valueOf(this.inputs[name])].flat().map((value) => [option, value]),
    );
    const given = [["-r", this.regionText], ...values].filter(
      ([, value]) => value !== null && value !== false && value !== "",
    );
    return given.map(([option, value]) => [option, value === true ? "" : String(value)]);
  }

  /** As a run takes them (src/call/options.js). */
  values() {
    const { gpu, ...others } = this.inputs;
    const values = Object.fromEntries(Object.entries(others).map(([name, input]) => [name, valueOf(input)]));
    // A mixture has a limit of its own.
    if (values.mixture && values.maxDepth === OPTIONS.maxDepth) delete values.maxDepth;
    return values;
  }
}

/** @param {string} id @param {Values} [values] */
function inputOf(id, values) {
  if (typeof values === "string") return textInput(id, values);
  if (!values) return make("input", { id, type: "checkbox", checked: OPTIONS[id] });
  if (Array.isArray(values)) {
    const [min, max] = values;
    return make("input", { id, type: "number", value: OPTIONS[id], min, max, step: 1, required: true });
  }
  return make("select", { id }, ...Object.entries(values).map(([value, text]) => make("option", { value }, text)));
}

/** @param {string} id @param {string} placeholder */
function textInput(id, placeholder) {
  return make("input", { id, type: "text", placeholder, spellcheck: "false", autocomplete: "off" });
}

/** @param {any} input */
function valueOf({ type, checked, disabled, value }) {
  if (type === "text") return value.split(/[\s,]+/).filter(Boolean);
  if (type === "checkbox") return checked && !disabled;
  return type === "number" ? Number(value) : value || null;
}

/** @param {string} title @param {HTMLElement} input @param {string} option the command line's */
function fieldOf(title, input, option) {
  const isBox = input instanceof HTMLInputElement && input.type === "checkbox";
  const parts = [make("span", {}, title), input];
  return make(
    "label",
    { class: isBox ? "field box" : "field", title: `As ${option} of pairhmm call` },
    ...(isBox ? parts.reverse() : parts),
  );
}
