// Options for kinds of reads: sets of values that a name stands for (pairhmm/evidence/presets.py).

/** @typedef {import("./options.js").CallOptions} CallOptions */

// tests/web/test_models.py compares them.
/** @type {Partial<CallOptions>} */
const LONG = { pcrIndelModel: "none", capByMappingQuality: false, errorRate: null };

/**
 * The values of each preset. Others have their defaults, which are those of short reads.
 *
 * @type {Record<CallOptions["preset"], Partial<CallOptions>>}
 */
export const READ_PRESETS = {
  illumina: {},
  hifi: { ...LONG, insertionQuality: 30, deletionQuality: 30 },
  ont: {
    ...LONG,
    insertionQuality: 22,
    deletionQuality: 19,
    gapQuality: 5,
    baseQualityThreshold: null,
    minSnvFraction: 0.2,
    minIndelFraction: 0.2,
  },
};
