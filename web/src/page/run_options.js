// The options of a run, under the names of the command line. tests/page/ compares what they do.

import { OPTIONS } from "../models/parameters.js";
import { make } from "./components.js";

const NUMBERS = /** @type {const} */ ([
  ["minMapq", "Mapping quality, at least", 0, 255, "--min-mapq"],
  ["minQual", "PASS from QUAL", 0, 10000, "--min-qual"],
  ["maxDepth", "Reads of a sample, at most", 1, 100000, "--max-depth"],
  ["ploidy", "Ploidy", 1, 20, "--ploidy"],
]);

/** @type {Record<string, [string, string][]>} values of a choice, and what is shown of them */
const CHOICES = {
  preset: [
    ["illumina", "Illumina"],
    ["hifi", "PacBio HiFi"],
    ["ont", "Nanopore"],
  ],
  model: [
    ["gatk", "GATK's"],
    ["profile", "profile"],
  ],
  strModel: [
    ["", "GATK's PCR model"],
    ["pcr-free", "STR model, PCR-free"],
    ["pcr", "STR model, PCR"],
  ],
  gpu: [
    ["auto", "GPU or CPU"],
    ["off", "CPU"],
  ],
};

/** The fields of a run's options. */
export class RunOptions {
  /** @param {{onRegion: () => void, onGpu: (gpu: "auto" | "off") => void}} told */
  constructor({ onRegion, onGpu }) {
    this.region = make("input", {
      id: "region",
      type: "text",
      placeholder: "chr1:10,000-20,000",
      spellcheck: "false",
      autocomplete: "off",
      oninput: onRegion,
    });
    this.preset = choice("preset");
    this.model = choice("model", () => this.become(this.files));
    this.strModel = choice("strModel");
    this.gpu = choice("gpu", () => onGpu(/** @type {"auto" | "off"} */ (this.gpu.value)));
    this.numbers = NUMBERS.map(([name, , min, max]) =>
      make("input", { id: name, type: "number", value: OPTIONS[name], min, max, step: 1, required: true }),
    );
    this.indelTags = make("input", { id: "indelTags", type: "checkbox", checked: true });
    this.mnv = make("input", { id: "mnv", type: "checkbox" });
    this.gvcf = make("input", { id: "gvcf", type: "checkbox" });
    this.files = { hasVariants: false, hasStrModel: false };
  }

  /** What the form shows. */
  get fields() {
    return [
      field("Region", this.region, "-r"),
      field("Reads", this.preset, "--preset"),
      field("Model", this.model, "--model"),
      field("Gaps in repeats", this.strModel, "--str-model"),
      ...this.numbers.map((input, index) => field(NUMBERS[index][1], input, NUMBERS[index][4])),
      field("Compute on", this.gpu, "--backend"),
      field("Gap qualities of tags BI and BD", this.indelTags, "--indel-tags"),
      field("Neighbouring SNVs as one record", this.mnv, "--mnv"),
      field("gVCF: blocks of the reference, too", this.gvcf, "--gvcf"),
    ];
  }

  get regionText() {
    return this.region.value.trim();
  }

  /** Switches off what the files or the model leave without effect. @param {{hasVariants: boolean, hasStrModel: boolean}} files */
  become(files) {
    this.files = files;
    const isProfile = this.model.value === "profile";
    this.strModel.disabled = isProfile || files.hasStrModel;
    this.indelTags.disabled = isProfile;
    this.mnv.disabled = this.gvcf.disabled = files.hasVariants;
  }

  /** What was chosen in place of a default, for a closed form. */
  get told() {
    const chosen = [this.preset, this.model, this.strModel].filter((one) => one.selectedIndex > 0 && !one.disabled);
    const records = [isOn(this.mnv) ? "neighbouring SNVs as one record" : "", isOn(this.gvcf) ? "gVCF" : ""];
    return [this.regionText, ...chosen.map((one) => one.selectedOptions[0].text), ...records];
  }

  /** As a run takes them (src/call/options.js). */
  values() {
    return {
      ...Object.fromEntries(NUMBERS.map(([name], index) => [name, Number(this.numbers[index].value)])),
      preset: this.preset.value,
      model: this.model.value,
      strModel: this.strModel.value || null,
      indelTags: this.indelTags.checked,
      gvcf: isOn(this.gvcf),
      mnv: isOn(this.mnv),
    };
  }
}

/** @param {HTMLInputElement} box */
const isOn = (box) => box.checked && !box.disabled;

/** @param {string} id @param {() => void} [onchange] */
function choice(id, onchange) {
  return make("select", { id, onchange }, ...CHOICES[id].map(([value, text]) => make("option", { value }, text)));
}

/** @param {string} title @param {HTMLElement} input @param {string} option the command line's */
function field(title, input, option) {
  const isBox = input instanceof HTMLInputElement && input.type === "checkbox";
  const parts = [make("span", {}, title), input];
  return make(
    "label",
    { class: isBox ? "field box" : "field", title: `As ${option} of pairhmm call` },
    ...(isBox ? parts.reverse() : parts),
  );
}
