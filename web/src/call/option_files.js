// What the options of a run need of its files, and the files that options name (pairhmm/calling/call.py).

import { familiesOf, readPed } from "../files/ped.js";
import { readPrimers } from "../files/primers.js";
import { InputProblem } from "../files/problem.js";
import { readStrModel } from "../files/str_file.js";
import { OPTIONS, STR_TABLES } from "../models/parameters.js";

/** @import { Source } from "../files/sources.js" */
/** @import { CallOptions } from "./options.js" */
/** @import { Inputs } from "./run.js" */

/** Requires what a gVCF needs. @param {Inputs} inputs @param {CallOptions} options @param {number} samples */
export function checkRecords({ alignments }, options, samples) {
  if (options.gvcf && options.ploidy > 2) {
    throw new InputProblem("--gvcf", `ploidy ${options.ploidy}`, "a gVCF has ploidy 0, 1 or 2", "leave out --gvcf");
  }
  if (options.gvcf && options.mixture) {
    throw new InputProblem(
      "--gvcf",
      "",
      "a gVCF has genotypes, and a mixture has none",
      "leave out --gvcf or --mixture",
    );
  }
  if (options.gvcf && samples > 1) {
    const paths = alignments.map((one) => one.name).join(", ");
    const cure = "write one gVCF a sample, and join them (bcftools merge -g)";
    throw new InputProblem("--gvcf", paths, `reads of ${samples} samples`, cure);
  }
}

/**
 * The families of a PED file that the samples have.
 *
 * @param {{name: string, data: Source}} file
 * @param {string[]} samples
 * @param {{tell: (text: string) => void, warn: (text: string) => void}} told
 */
export async function familiesIn(file, samples, { tell, warn }) {
  const { families, leftOut } = familiesOf(await readPed(file), samples);
  if (!families.length && !leftOut.length) {
    const rule = "has no child that is a sample and whose father and mother are samples";
    const cure = "give the three of a family, under the names of their read groups";
    throw new InputProblem(file.name, "", rule, cure);
  }
  const children = families.reduce((sum, family) => sum + family.children.length, 0);
  tell(`${file.name}: families ${families.length}, with children ${children}`);
  if (leftOut.length) warn(`${file.name}: families close a loop, so that ${leftOut.join(", ")} count as founders`);
  return families;
}

/** The primers of a file, if there is one. @param {Inputs} inputs @param {import("../files/fasta.js").Reference} reference */
export async function primersOf({ primers }, reference) {
  return primers ? readPrimers(primers, reference.contigs) : null;
}

/** The STR model of a file, or a built-in one. @param {Inputs} inputs @param {CallOptions} options @returns {Promise<import("../files/str_file.js").StrModel | null>} */
export async function strModelOf({ strModel: file }, { strModel: name }) {
  if (file) return readStrModel(file);
  return name && { name, ...STR_TABLES[name] };
}

// Options that change scores, as in pairhmm/models/labels.py.
const OF_GAPS = /** @type {const} */ (["insertionQuality", "deletionQuality", "pcrIndelModel", "gapQuality"]);
const OF_TAGS = /** @type {const} */ (["indelTags"]);
const OF_BASES = /** @type {const} */ (["trimsEnds", "capByMappingQuality", "baseQualityThreshold"]);

/**
 * The model, its parameters, and the options whose values are not the defaults, for headers.
 *
 * @param {CallOptions} options
 * @param {{name: string} | null} strModel which takes the place of the options of gap qualities
 */
export function modelText(options, strModel) {
  const isProfile = options.model === "profile";
  const name = isProfile ? options.parameters : strModel?.name;
  const used = [...(name ? [] : OF_GAPS), ...(isProfile ? [] : OF_TAGS), ...OF_BASES];
  const changed = used.filter((key) => options[key] !== OPTIONS[key]);
  const told = changed.map((key) => `, ${inPython(key)}=${options[key] ?? "none"}`);
  return `${options.model}${name ? ` (${name})` : ""}${told.join("")}`;
}

/** The package's name of an option. @param {string} key */
function inPython(key) {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
