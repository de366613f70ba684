// Packs a batch for the kernels: its arrays as bytes, and the dispatches (pairhmm/backends/webgpu/layout.py).

import { firstPairs } from "../pieces.js";
import { madeTiles } from "./staging.js";
import { kindTable } from "./tables.js";
import { partsOfWalk, putTrees, walks } from "./trees.js";

/** @import { Batch } from "../batch.js" */
/** @import { Native } from "../cpu/native.js" */
/** @import { Tier } from "./staging.js" */
/** @import { GpuData } from "./variants.js" */

const LISTED_BYTES = 8; // of an entry of the lists: a pair, or a column between strips

// Fields of Work, and the arrays of a batch that they place, in their order in memory.
const QUALITIES = /** @type {const} */ ([
  ["bases", "bases"],
  ["base_quality", "baseQuality"],
  ["insertion_quality", "insertionQuality"],
  ["deletion_quality", "deletionQuality"],
  ["gap_quality", "gapQuality"],
]);

/** @typedef {ReturnType<typeof ownTier>} DeviceTier the tiles of one dispatch, or of several that follow each other */

/** @typedef {ReturnType<typeof pack>} Packed */

/** The uniform block of a dispatch (`WORK` of pairhmm/backends/webgpu/work.py). */
export class Work {
  /** @param {GpuData["work"]} layout @param {Uint8Array<ArrayBuffer>} [bytes] */
  constructor(layout, bytes = new Uint8Array(layout.bytes)) {
    this.layout = layout;
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer);
  }

  copy() {
    return new Work(this.layout, this.bytes.slice());
  }

  /** @param {Record<string, number>} fields whole numbers */
  put(fields) {
    for (const [name, value] of Object.entries(fields)) {
      if (!(name in this.layout.at)) throw new Error(`Work has no field ${name}`);
      this.view.setUint32(this.layout.at[name], value, true);
    }
  }

  /** @param {number} index @param {number} value */
  putWord(index, value) {
    this.view.setUint32(4 * index, value, true);
  }

  /** @param {string} name @param {number} value a float32 */
  putNumber(name, value) {
    this.view.setFloat32(this.layout.at[name], value, true);
  }

  /** @param {string} name */
  get(name) {
    return this.view.getUint32(this.layout.at[name], true);
  }
}

/** Arrays, and the place of each in a buffer. */
class Plan {
  size = 0;
  /** @type {{at: number, bytes: Uint8Array}[]} */
  #parts = [];

  /** @param {number} alignment */
  constructor(alignment) {
    this.alignment = alignment;
  }

  /** @param {ArrayBufferView} values @returns {number} its first byte */
  add(values, isAligned = true) {
    const at = isAligned ? this.end() : this.size;
    this.#parts.push({ at, bytes: new Uint8Array(values.buffer, values.byteOffset, values.byteLength) });
    this.size = at + values.byteLength;
    return at;
  }

  /** The next aligned byte. */
  end() {
    return Math.ceil(this.size / this.alignment) * this.alignment;
  }

  written() {
    const all = new Uint8Array(this.end());
    for (const { at, bytes } of this.#parts) all.set(bytes, at);
    return all;
  }
}

/** Whether the kernels take a batch: GATK's model, or a profile model with the kind of each row. @param {Batch} batch */
export function takes({ rows, kinds, flags }) {
  return flags.length === 0 && (rows.length === 0 || kinds.length > 0);
}

/**
 * The probability that a deletion is extended, if it is one number for the batch; else null.
 *
 * @param {Batch} batch
 * @param {Float64Array} error of each Phred quality
 */
export function extensionOf({ rows, gapQuality }, error) {
  if (rows.length > 0) return rows[11];
  return isConstant(gapQuality) ? error[gapQuality[0]] : null;
}

/** Whether all values are the same. A loop: callbacks take ten times as long. @param {Uint8Array} values */
function isConstant(values) {
  for (let i = 1; i < values.length; i++) if (values[i] !== values[0]) return false;
  return true;
}

/**
 * @param {GpuData} data
 * @param {Native} native
 * @param {Batch} batch
 * @param {number} subgroup lanes that shuffle; 0 if none do
 * @param {number} share bytes that the lists and the scratch memory may each take
 */
export function pack(data, native, batch, subgroup, share) {
  const { alignment } = data.constants;
  const plan = new Plan(alignment);
  const work = new Work(data.work);
  planBatch(plan, work, batch, data);
  const unorderedAt = 2 * (batch.pairs + batch.readOffset.length - 1);
  work.put({ kept: 2 * batch.pairs, unordered: unorderedAt });
  const inTrees = batch.startMatch === 0 && batch.startDeletion === 1;
  const table = inTrees ? data.treeShapes : data.shapes;
  const made = madeTiles(native, batch, new Uint8Array(batch.readOffset.length - 1), table, data, inTrees);
  const at = plan.end();
  work.put({ read_group: at / 4, order: (at + made.order) / 4, items: (at + made.items) / 4 });
  const rescuerOf = (/** @type {Tier} */ { lanes, rows }) =>
    data.rescuers.findIndex(([own, each]) => own * each >= lanes * rows);
  const listAt = placesOfLists(made.tiers, rescuerOf, data);
  /** @type {DeviceTier[]} */
  const tiers = [];
  if (inTrees) {
    putTrees(work, at, made);
    tiers.push(...walks(work, made, { subgroup, share, listAt, rescuerOf, masked: batch.rows.length === 0, data }));
  }
  const others = made.tiers.filter(({ tall }) => tall || !inTrees);
  tiers.push(...others.map((tier) => ownTier(work, tier, { share, listAt, rescuerOf, data, widest: widest(batch) })));
  const entries = Math.max(
    listAt[data.rescuers.length],
    ...tiers.map((tier) =>
      tier.kernel === "forward_tall" ? tier.work.get("list") + tier.atOnce * tier.work.get("between") : 0,
    ),
  );
  const rescues = rescuesOf(work, listAt, subgroup, data);
  return {
    arrays: plan.written(),
    behind: made.bytes, // tiles and trees, which follow the arrays
    tiers,
    rescues,
    listBytes: LISTED_BYTES * entries,
    scratchBytes: Math.max(0, ...tiers.map((tier) => tier.scratchBytes)),
    unorderedAt, // word of what kernels leave: not 0 where lanes do not follow each other in a subgroup
    outBytes: 4 * (unorderedAt + 1),
  };
}

/**
 * The blocks of a tier's dispatches, of at most so many items each.
 *
 * @param {DeviceTier} tier
 * @param {number} most
 * @param {GpuData} data
 * @returns {Work[]}
 */
export function partsOf(tier, most, data) {
  const each = Math.max(1, Math.min(tier.atOnce, most));
  if (tier.walkers > 0) return partsOfWalk(tier, each, data);
  return Array.from({ length: Math.ceil(tier.items / each) }, (_, part) => {
    const work = tier.work.copy();
    work.put({ first_item: part * each, end_item: Math.min((part + 1) * each, tier.items) });
    return work;
  });
}

/** @param {Plan} plan @param {Work} work @param {Batch} batch @param {GpuData} data */
function planBatch(plan, work, batch, data) {
  const { padding } = data.constants;
  const { readOffset, groupRead, groupHaplotype, haplotypeOffset } = batch;
  work.put({
    read_offset: plan.add(readOffset) / 4,
    group_read: plan.add(groupRead) / 4,
    group_haplotype: plan.add(groupHaplotype) / 4,
    group_pair: plan.add(firstPairs(batch.groupRead, batch.groupHaplotype)) / 4,
    haplotype_offset: plan.add(haplotypeOffset) / 4,
  });
  plan.add(new Uint8Array(padding));
  work.put({ letters: plan.add(batch.haplotypes) });
  plan.add(new Uint8Array(padding + widest(batch)), false);
  work.putNumber("start_match", batch.startMatch);
  work.putNumber("start_deletion", batch.startDeletion);
  if (batch.rows.length > 0) {
    work.put({ kinds: plan.add(batch.kinds) / 4, rows: plan.add(kindTable(batch.rows, data)) / 4 });
    return;
  }
  for (const [field, name] of QUALITIES) {
    const values = batch[name];
    // An array that holds one number throughout is a single byte.
    const varies = !isConstant(values);
    work.put({ [field]: plan.add(varies ? values : values.subarray(0, 1)), [`${field}_step`]: Number(varies) });
  }
}

/**
 * A tier whose haplotypes are not in trees.
 *
 * @param {Work} work
 * @param {Tier} tier
 * @param {{share: number, listAt: number[], rescuerOf: (tier: Tier) => number, data: GpuData, widest: number}} given
 */
function ownTier(work, tier, { share, listAt, rescuerOf, data, widest }) {
  const { betweenPadding, betweenBytes } = data.constants;
  const own = work.copy();
  const { lanes, rows, items, cells } = tier;
  own.put({ items: work.get("items") + 2 * tier.firstItem, last: tier.last, haplotypes_each: tier.haplotypesEach });
  let atOnce = items;
  if (tier.tall) {
    const list = listAt[data.rescuers.length];
    const between = widest + betweenPadding;
    const room = Math.min(betweenBytes, share - LISTED_BYTES * list);
    atOnce = Math.max(1, Math.min(items, Math.floor(Math.floor(room / LISTED_BYTES) / between)));
    own.put({ list, between });
  } else {
    const rescuer = rescuerOf(tier);
    own.put({ rescuer, list: listAt[rescuer] });
  }
  const kernel = tier.tall ? "forward_tall" : "forward";
  // `atOnce`: most items of a dispatch; `walkers`: workgroups that walk trees, 0 where haplotypes are not in trees.
  return { kernel, lanes, rows, work: own, items, atOnce, cells, walkers: 0, scratchBytes: 0 };
}

/**
 * The dispatches that rescue pairs, with the most lanes of their reads. One takes the lists with one number of rows a
 * lane, whose lanes lie in a subgroup or do not.
 *
 * @param {Work} work
 * @param {number[]} listAt
 * @param {number} subgroup
 * @param {GpuData} data
 */
function rescuesOf(work, listAt, subgroup, { rescuers, constants: { width, mostRescuing } }) {
  /** @type {Map<string, {lanes: number, rows: number, rescuer: number, pairs: number}[]>} */
  const found = new Map();
  rescuers.forEach(([lanes, rows], rescuer) => {
    const pairs = listAt[rescuer + 1] - listAt[rescuer];
    const key = `${rows} ${lanes <= subgroup}`;
    if (pairs > 0) found.set(key, [...(found.get(key) ?? []), { lanes, rows, rescuer, pairs }]);
  });
  return Array.from(found.values(), (lists) => {
    const own = work.copy();
    lists.forEach(({ lanes, rescuer }, number) =>
      [rescuer, listAt[rescuer], lanes, 0].forEach((word, index) => own.putWord(4 * number + index, word)),
    );
    own.put({ end_item: lists.length });
    const workgroups = lists.reduce((sum, { pairs, lanes }) => sum + Math.ceil((pairs * lanes) / width), 0);
    const { lanes, rows } = lists[lists.length - 1];
    return { lanes, rows, work: own, workgroups: Math.min(workgroups, mostRescuing) };
  });
}

/**
 * Where each rescuer's list of pairs begins, and where the last one ends.
 *
 * @param {Tier[]} tiers
 * @param {(tier: Tier) => number} rescuerOf
 * @param {GpuData} data
 */
function placesOfLists(tiers, rescuerOf, data) {
  const listed = data.rescuers.map(() => 0);
  for (const tier of tiers) if (!tier.tall) listed[rescuerOf(tier)] += tier.pairs;
  return listed.reduce((at, pairs) => [...at, at[at.length - 1] + pairs], [0]);
}

/** Letters of the longest haplotype. @param {Batch} batch */
function widest({ haplotypeOffset }) {
  let most = 0;
  for (let h = 0; h + 1 < haplotypeOffset.length; h++)
    most = Math.max(most, haplotypeOffset[h + 1] - haplotypeOffset[h]);
  return most;
}
