// Reads BAI and CSI indexes (pairhmm/alignments/bam_index.py). Every count and bin number is checked.

/** @typedef {{block: number, within: number}} Place a block's address, and a place among its unpacked bytes */
/** @typedef {{contig: number, bin: number, begin: Place, end: Place}} Chunk */
/** @typedef {{window: number, offset: Place}} Start the offset before which no read reaches a window of positions */
/** @typedef {{mapped: number, unmapped: number, end: Place}} ContigReads their numbers, and where they end */

// A .bai has the bins of a .csi with these parameters.
const [BAI_SHIFT, BAI_DEPTH] = [14, 5];
// Contigs of at most 2^44 bases, and bin numbers that fit 31 bits.
const [LONGEST, DEEPEST] = [44, 9];
// Bytes of the file between two places, below which reading on is faster than a jump.
const NEAR = 1 << 16;
const COUNT_CHUNKS = 2;
const FILE_START = { block: 0, within: 0 };
const [BAI, CSI] = [0x01494142, 0x01495343];

/** An index that is not as its specification has it, or contradicts itself. The message says where. */
export class DamagedIndex extends Error {}

/** Where the reads of each contig lie in a BAM file. */
export class BamIndex {
  /** @param {number} shift the smallest bins have 2^shift bases @param {number} depth levels above them */
  constructor(shift, depth) {
    this.shift = shift;
    this.depth = depth;
    /** @type {Chunk[][]} of each contig, in the order of the file */
    this.chunks = [];
    /** @type {{bin: number, chunks: Chunk[]}[][]} the same by bins */
    this.bins = [];
    /** @type {Start[][]} of each contig, by windows; without zeros, which stand where no read has begun */
    this.starts = [];
    /** @type {Map<number, ContigReads>} which older indexes lack */
    this.reads = new Map();
  }

  /** All chunks, as their reads lie in the file. */
  get order() {
    return this.chunks.flat();
  }

  /** @param {Uint8Array} data unzipped @throws {DamagedIndex} */
  static parse(data) {
    try {
      return parsed(new DataView(data.buffer, data.byteOffset, data.byteLength));
    } catch (error) {
      if (error instanceof RangeError) throw new DamagedIndex("it ends early");
      throw error;
    }
  }

  /**
   * Where the reads that overlap [start, end) of a contig lie, in order. Others lie there, too.
   *
   * @param {number} contig
   * @param {number} start
   * @param {number} end
   */
  places(contig, start, end) {
    const least = this.#before(contig, start);
    const chunks = this.#overlapping(contig, start, end).filter((one) => compare(one.end, least) > 0);
    /** @type {{begin: Place, behind: Place}[]} */
    const places = [];
    for (const { begin, end: behind } of chunks.sort(byBegin)) {
      const before = places.at(-1);
      if (!before || begin.block - before.behind.block >= NEAR) places.push({ begin: later(begin, least), behind });
      else before.behind = later(before.behind, behind);
    }
    return places;
  }

  /** @param {number} contig @param {number} start @param {number} end */
  #overlapping(contig, start, end) {
    const own = this.bins[contig] ?? [];
    const chunks = [];
    for (let level = 0; level <= this.depth; level++) {
      const size = 2 ** (this.shift + 3 * (this.depth - level));
      const first = bins(level) + Math.floor(start / size);
      const last = Math.min(bins(level) + Math.floor((end - 1) / size), bins(level + 1) - 1);
      const from = countWhile(own, ({ bin }) => bin < first);
      const to = countWhile(own, ({ bin }) => bin <= last);
      for (let i = from; i < to; i++) chunks.push(own[i].chunks);
    }
    return chunks.flat();
  }

  /** @param {number} contig @param {number} position */
  #before(contig, position) {
    const window = this.windowOf(position);
    const starts = this.starts[contig] ?? [];
    return starts[countWhile(starts, (one) => one.window <= window) - 1]?.offset ?? FILE_START;
  }

  /** @param {number} position */
  windowOf(position) {
    return Math.floor(position / 2 ** this.shift);
  }

  /** The interval of positions that a bin covers. @param {number} bin */
  spanOfBin(bin) {
    let level = 0;
    while (bin >= bins(level + 1)) level++;
    const size = 2 ** (this.shift + 3 * (this.depth - level));
    const start = (bin - bins(level)) * size;
    return [start, start + size];
  }
}

/** Number of bins in so many levels; each level has eight times as many bins as the one above it. @param {number} levels */
export function bins(levels) {
  return (8 ** levels - 1) / 7;
}

/** Below 0 where one place lies before another. @param {Place} one @param {Place} other */
export function compare(one, other) {
  return one.block - other.block || one.within - other.within;
}

/** @param {Place} one @param {Place} other */
export function later(one, other) {
  return compare(one, other) < 0 ? other : one;
}

/** @param {Chunk} one @param {Chunk} other */
function byBegin(one, other) {
  return compare(one.begin, other.begin);
}

/** How many items a condition holds for, which are the first ones. @template Item @param {Item[]} items @param {(item: Item) => boolean} holds */
function countWhile(items, holds) {
  let [from, to] = [0, items.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (holds(items[middle])) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** @param {DataView} view */
function parsed(view) {
  const magic = view.getUint32(0, true);
  if (magic !== BAI && magic !== CSI) throw new DamagedIndex("neither BAI nor CSI");
  const isCsi = magic === CSI;
  let [shift, depth, at] = [BAI_SHIFT, BAI_DEPTH, 4];
  if (isCsi) {
    const auxiliary = view.getInt32(12, true);
    [shift, depth, at] = [view.getInt32(4, true), view.getInt32(8, true), 16 + auxiliary];
    const isPossible = shift > 0 && depth >= 0 && depth <= DEEPEST && shift + 3 * depth <= LONGEST;
    if (auxiliary < 0 || !isPossible) throw new DamagedIndex("impossible bins");
  }
  const count = () => view.getUint32((at += 4) - 4, true);
  const large = () => count() + 2 ** 32 * count();
  const place = () => {
    const [low, high] = [count(), count()];
    return { block: 2 ** 16 * high + (low >>> 16), within: low & 0xffff };
  };
  const index = new BamIndex(shift, depth);
  const limit = bins(depth + 1);
  const contigs = count();
  for (let contig = 0; contig < contigs; contig++) {
    /** @type {{bin: number, chunks: Chunk[]}[]} */
    const own = [];
    /** @type {Start[]} */
    const starts = [];
    for (let left = count(); left > 0; left--) {
      const bin = count();
      const offset = isCsi ? place() : null;
      const number = count();
      // This is not a bin. It holds where the contig's reads lie in the file, and how many are mapped.
      const isCount = bin === limit + 1;
      if (isCount ? number !== COUNT_CHUNKS : bin >= limit) throw new DamagedIndex("impossible bins");
      if (isCount) {
        const [, end, mapped, unmapped] = [place(), place(), large(), large()];
        index.reads.set(contig, { mapped, unmapped, end });
        continue;
      }
      if (offset) starts.push({ window: index.windowOf(index.spanOfBin(bin)[0]), offset });
      /** @type {Chunk[]} */
      const chunks = [];
      own.push({ bin, chunks });
      for (let i = 0; i < number; i++) {
        const [begin, end] = [place(), place()];
        if (compare(begin, end) > 0) throw new DamagedIndex("a chunk ends before it begins");
        chunks.push({ contig, bin, begin, end });
      }
    }
    if (!isCsi) {
      const windows = count();
      for (let window = 0; window < windows; window++) starts.push({ window, offset: place() });
    }
    index.chunks.push(own.flatMap(({ chunks }) => chunks).sort(byBegin));
    index.bins.push(own.sort((one, other) => one.bin - other.bin));
    starts.sort((one, other) => one.window - other.window || compare(one.offset, other.offset));
    index.starts.push(starts.filter(({ offset }) => compare(offset, FILE_START) > 0));
  }
  requireEnd(view, at);
  return index;
}

/** The last two words count the reads without a position. Older indexes lack them, and bamtools writes zeros. @param {DataView} view @param {number} at */
function requireEnd(view, at) {
  const words = Math.floor((view.byteLength - at) / 4);
  if (words === 2) return;
  for (let i = 0; i < words; i++) {
    if (view.getUint32(at + 4 * i, true)) throw new DamagedIndex("it ends early, or has more than it says");
  }
}
