// Where trees and the scratch memory of the workgroups that walk them lie (pairhmm/backends/webgpu/tree_layout.py).

/** @typedef {import("./layout.js").DeviceTier} DeviceTier */
/** @typedef {import("./layout.js").Work} Work */
/** @typedef {import("./staging.js").MadeTiles} MadeTiles */
/** @typedef {import("./staging.js").Tier} Tier */
/** @typedef {import("./variants.js").GpuData} GpuData */

const ENTRY_BYTES = 16;
const TIER_WORDS = 8;

/**
 * Tiers that walk trees, as dispatches of several: those with one number of rows, whose lanes lie in a subgroup or do
 * not. The tiers with the longest items come first.
 *
 * @param {Work} work of the batch
 * @param {MadeTiles} made
 * @param {{subgroup: number, share: number, listAt: number[], rescuerOf: (tier: Tier) => number, data: GpuData}} given
 * @returns {DeviceTier[]}
 */
export function walks(work, made, given) {
  const tiers = made.tiers.filter(({ tall }) => !tall).sort((a, b) => b.longest - a.longest);
  /** @type {Map<string, Tier[]>} */
  const launches = new Map();
  for (const tier of tiers) {
    const key = `${tier.rows} ${tier.lanes <= given.subgroup}`;
    launches.set(key, [...(launches.get(key) ?? []), tier]);
  }
  return Array.from(launches.values(), (launch) => walk(work, launch, made, given));
}

/** @param {Work} work @param {number} at first byte of the tiles and trees @param {MadeTiles} made */
export function putTrees(work, at, { trees }) {
  const [ofGroup, ofTrees, places, events, joins, streams] = trees.map((own) => at + own);
  const words = { of_group: ofGroup / 4, trees: ofTrees / 4, places: places / 4, events: events / 4 };
  work.put({ ...words, joins: joins / 2, streams });
}

/**
 * @param {Work} work
 * @param {Tier[]} launch
 * @param {MadeTiles} made
 * @param {Parameters<typeof walks>[2]} given
 * @returns {DeviceTier}
 */
function walk(work, launch, made, { share, listAt, rescuerOf, data }) {
  const { width, walkers: mostWalkers } = data.constants;
  const own = work.copy();
  const [{ rows }] = launch;
  let items = 0;
  launch.forEach((tier, number) => {
    items += tier.items;
    const rescuer = rescuerOf(tier);
    const reads = Math.floor(width / data.rescuers[rescuer][0]);
    const words = [items, tier.firstItem, tier.lanes, tier.last, rescuer, reads, listAt[rescuer], 0];
    words.forEach((word, index) => own.putWord(TIER_WORDS * number + index, word));
  });
  const ofWorkgroup = putScratch(own, rows, width, made);
  const walkers = Math.max(1, Math.min(items, mostWalkers, Math.floor(share / ofWorkgroup)));
  return {
    kernel: "forward_trees",
    lanes: Math.max(...launch.map(({ lanes }) => lanes)),
    rows,
    work: own,
    items,
    atOnce: items,
    cells: launch.reduce((cells, tier) => cells + tier.cells, 0),
    walkers,
    scratchBytes: walkers * ofWorkgroup,
  };
}

/**
 * Writes what a workgroup has in its scratch memory; returns its bytes.
 *
 * @param {Work} work
 * @param {number} rows
 * @param {number} width
 * @param {MadeTiles} made
 */
function putScratch(work, rows, width, { sizes }) {
  const quads = Math.ceil(rows / 4);
  const slot = width * (2 * quads + 1);
  const numbers = width / 4;
  const left = slot * sizes.openBranches;
  const right = left + slot * sizes.leftLeaves;
  const joined = right + slot * sizes.rightLeaves;
  const below = joined + numbers * sizes.joins;
  const scratch = below + width * quads;
  work.put({ left_leaves: left, right_leaves: right, joined, from_below: below, scratch });
  return ENTRY_BYTES * scratch;
}
