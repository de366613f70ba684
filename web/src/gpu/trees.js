// Where trees and the scratch memory of the workgroups that walk them lie (pairhmm/backends/webgpu/work.py).

/** @import { DeviceTier, Work } from "./layout.js" */
/** @import { MadeTiles, Tier } from "./staging.js" */
/** @import { GpuData } from "./variants.js" */

const ENTRY_BYTES = 16;
const TIER_WORDS = 8;

/**
 * Tiers that walk trees, as dispatches of several: those with one number of rows, whose lanes lie in a subgroup or do
 * not. The tiers with the longest items come first.
 *
 * @param {Work} work of the batch
 * @param {MadeTiles} made
 * @param {{subgroup: number, share: number, listAt: number[], rescuerOf: (tier: Tier) => number, masked: boolean, data: GpuData}} given
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
function walk(work, launch, made, { share, listAt, rescuerOf, masked, data }) {
  const { width, walkers: mostWalkers, mostItems } = data.constants;
  const own = work.copy();
  const [{ rows }] = launch;
  let items = 0;
  launch.forEach((tier, number) => {
    items += tier.items;
    const rescuer = rescuerOf(tier);
    putTier(own, number, [items, tier.firstItem, tier.lanes, tier.last, rescuer, listAt[rescuer], 0, 0]);
  });
  const { laneEntries, madeEntries } = data.treeRows[rows];
  const scratch = putScratch(own, width, laneEntries, made);
  const entries = madeEntries[Number(masked)];
  const [ofWorkgroup, ofItem] = [ENTRY_BYTES * scratch, ENTRY_BYTES * entries];
  const walkers = Math.max(1, Math.min(items, mostWalkers, Math.floor(Math.floor(share / 2) / ofWorkgroup)));
  own.put({ lane_rows: rows, made_entries: entries, made: walkers * scratch });
  const room = Math.floor((share - walkers * ofWorkgroup) / ofItem);
  const atOnce = Math.max(launch.length, Math.min(items, mostItems, room));
  return {
    kernel: "forward_trees",
    lanes: Math.max(...launch.map(({ lanes }) => lanes)),
    rows,
    work: own,
    items,
    atOnce,
    cells: launch.reduce((cells, tier) => cells + tier.cells, 0),
    walkers,
    scratchBytes: walkers * ofWorkgroup + atOnce * ofItem,
  };
}

/**
 * The blocks of dispatches of at most so many items each, or of one item of each tier. Each has its share of every tier.
 *
 * @param {DeviceTier} walk
 * @param {number} most
 * @param {GpuData} data
 * @returns {Work[]}
 */
export function partsOfWalk({ work, items }, most, { constants: { mostTreeTiers } }) {
  const tiers = Array.from({ length: mostTreeTiers }, (_, number) => tierOf(work, number)).filter(([end]) => end > 0);
  // A part has its share of each tier, rounded up or down.
  const parts = items <= most ? 1 : Math.ceil(items / Math.max(1, most - tiers.length + 1));
  const blocks = Array.from({ length: parts }, (_, part) => {
    const own = work.copy();
    let before = 0;
    let end = 0;
    let number = 0;
    for (const [endOfTier, firstItem, ...others] of tiers) {
      const [first, last] = [part, part + 1].map((of) => Math.floor(((endOfTier - before) * of) / parts));
      before = endOfTier;
      end += last - first;
      if (last > first) putTier(own, number++, [end, firstItem + first, ...others]);
    }
    for (; number < mostTreeTiers; number++) putTier(own, number, Array(TIER_WORDS).fill(0));
    own.put({ first_item: 0, end_item: end });
    return own;
  });
  return blocks.filter((own) => own.get("end_item") > 0);
}

/** @param {Work} work @param {number} number @param {number[]} words */
function putTier(work, number, words) {
  words.forEach((word, index) => work.putWord(TIER_WORDS * number + index, word));
}

/** @param {Work} work @param {number} number */
function tierOf(work, number) {
  return Array.from({ length: TIER_WORDS }, (_, index) => work.view.getUint32(4 * (TIER_WORDS * number + index), true));
}

/**
 * Writes what a workgroup has in its scratch memory; returns its entries.
 *
 * @param {Work} work
 * @param {number} width
 * @param {number} laneEntries of a lane in a slot
 * @param {MadeTiles} made
 */
function putScratch(work, width, laneEntries, { sizes }) {
  const numbers = width / 4;
  const leftLeaves = width * laneEntries * sizes.openBranches;
  const ended = leftLeaves + width * laneEntries * sizes.leftLeaves;
  const started = ended + numbers * sizes.leftLeaves;
  const joined = started + numbers * sizes.rightLeaves;
  const scratch = joined + numbers * sizes.joins;
  work.put({ left_leaves: leftLeaves, ended, started, joined, scratch });
  return scratch;
}
