// All options of a run. Names and defaults are those of the command line (pairhmm/calling/web_parameters.py).

import {
  CORE,
  MIXTURE,
  MIXTURE_OF_COPIES,
  OPTIONS,
  PCR_QUALITIES,
  PROFILES,
  READ_PRESETS,
} from "../models/parameters.js";
import { callProbabilities, STARTS, transitionsOf } from "../models/profile.js";

/** @import { ReadSelection } from "../files/alignment_parser.js" */
/** @import { StrModel } from "../files/str_file.js" */
/** @import { Core } from "./core.js" */

/** @typedef {ReadSelection & Record<string, any>} CallOptions by the names of pairhmm/calling/run_options.py; null is none */

const NOT_OF_THE_CORE = new Set([
  ...["model", "parameters", "preset", "strModel", "pcrIndelModel", "indelQualities", "pedigree", "chunkSize"],
  ...[
    "excludedFlags",
    "minMapq",
    "defaultBaseQuality",
    "indelTags",
    "trimsEnds",
    "primers",
    "circular",
    "errors",
    "stutter",
  ],
]);

/** All options of a run, from those that are given. @param {Partial<CallOptions>} given @returns {CallOptions} */
export function chosenOptions(given) {
  const preset = READ_PRESETS[given.preset ?? OPTIONS.preset];
  const hasCopies = (given.families ?? OPTIONS.families) !== OPTIONS.families;
  const mixture = hasCopies ? { ...MIXTURE_OF_COPIES, parameters: "copies" } : MIXTURE;
  return { ...OPTIONS, ...(given.mixture ? mixture : {}), ...preset, ...given };
}

/** Gives the core the options of a run. @param {Core} core @param {CallOptions} options @param {StrModel | null} strModel */
export function setOptions(core, options, strModel) {
  for (const [name, value] of Object.entries(options)) {
    if (!NOT_OF_THE_CORE.has(name) && !core.set(name, value)) throw new Error(`${name} is no option of a run`);
  }
  for (const [name, value] of Object.entries(CORE)) core.set(name, value);
  // Genotypes of the profile model, too, expect reads to slip as these gaps do.
  setGaps(core, options, strModel);
  if (options.model === "profile") setProfile(core, PROFILES[options.parameters]);
}

/** Gives the core the gap qualities of repeats. @param {Core} core @param {CallOptions} options @param {StrModel | null} strModel */
export function setGaps(core, options, strModel) {
  if (strModel) {
    core.set("insertionByKind", strModel.insertion);
    core.set("deletionByKind", strModel.deletion);
    core.set("gapByKind", strModel.gap);
  }
  core.set("mostByCopies", strModel ? [] : PCR_QUALITIES[options.pcrIndelModel]);
}

/** @param {Core} core @param {import("../models/profile.js").ProfileParameters} parameters */
function setProfile(core, parameters) {
  core.set("calls", callProbabilities().flat());
  core.set("match", parameters.match.flat());
  core.set("insertion", parameters.insertion);
  core.set("transitions", transitionsOf(parameters));
  core.start = STARTS[parameters.start];
}
