// Reads of called bases under a model, as batches: GATK's qualities, or the rows of the profile model.

import { packBatch } from "./batch.js";
import { PROFILES } from "./models/parameters.js";
import { distinctRows, kindsOf, STARTS } from "./models/profile.js";

/** @import { Batch, Group } from "./batch.js" */
/** @import { ProfileParameters } from "./models/profile.js" */

/**
 * "gatk", the name of a preset of the profile model, or parameters of one's own.
 *
 * @typedef {"gatk" | "normalised" | "published" | ProfileParameters} Model
 */

/**
 * The batch of some groups under a model. The profile model takes no indel qualities: its transitions are parameters.
 *
 * @param {Group[]} groups
 * @param {Model} model
 * @returns {Batch}
 * @throws {RangeError} as `packBatch`, and for a model that is none
 */
export function packModelBatch(groups, model) {
  const batch = packBatch(groups);
  if (model === "gatk") return batch;
  /** @type {ProfileParameters | undefined} */
  const parameters = typeof model === "string" ? PROFILES[model] : model;
  if (parameters === undefined) {
    throw new RangeError(`${model} is no model: use gatk, ${Object.keys(PROFILES).join(", ")}, or parameters`);
  }
  if (batch.flags.length) throw new RangeError("flags are of the model gatk");
  const none = new Uint8Array(0);
  return {
    ...batch,
    rows: distinctRows(parameters),
    kinds: kindsOf(batch.bases, batch.baseQuality),
    ...STARTS[parameters.start],
    bases: none,
    baseQuality: none,
    insertionQuality: none,
    deletionQuality: none,
    gapQuality: none,
  };
}
