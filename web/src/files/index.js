// Checks that the index of a BAM file is sound and belongs to that file, and that reads are where it says
// (pairhmm/alignments/index.py, index_checks.py).

import { BamIndex, bins, compare, DamagedIndex, later } from "./bam_index.js";
import { blockAt, DamagedBlock, isBlock } from "./bgzf.js";
import { unzipped } from "./byte_stream.js";
import { InputProblem } from "./problem.js";
import { SourceFile } from "./sources.js";

/** @import { Header } from "./bam.js" */
/** @import { Place, Chunk } from "./bam_index.js" */
/** @import { Source } from "./sources.js" */

/**
 * @param {Source} source
 * @param {SourceFile} file the BAM
 * @param {Header} header
 * @param {Place} first the file's first record
 * @throws {InputProblem} for a damaged index, and for that of another file
 */
export async function openBamIndex(source, file, { names }, first) {
  const bytes = await new SourceFile(`${file.name}.bai`, source).whole();
  const ending = isBlock(bytes.subarray(0, 18)) ? "csi" : "bai";
  return withProblems(file, ending, async () => {
    const index = BamIndex.parse(await unzipped(bytes));
    requireRising(index);
    await checkLookups(index, file, first, names).catch((error) => {
      // A damaged file is reported where it is read.
      if (!(error instanceof DamagedBlock)) throw error;
    });
    return index;
  });
}

/**
 * An index, with problems that name it.
 *
 * @template Index
 * @param {SourceFile} file
 * @param {string} ending of the index
 * @param {() => Promise<Index>} open
 * @throws {InputProblem}
 */
export async function withProblems(file, ending, open) {
  try {
    return await open();
  } catch (error) {
    const name = `${file.name}.${ending}`;
    /** @param {string} rule */
    const problem = (rule) => new InputProblem(name, "", rule, `run samtools index ${file.name}`);
    if (error instanceof DamagedIndex)
      throw problem(error.message ? `is damaged: ${error.message}` : "is damaged, or no index");
    if (error instanceof Contradiction)
      throw problem(`is not the index of ${file.name} as it is now: ${error.message}`);
    throw error;
  }
}

/** @typedef {{contig: number, position: number, flag: number, at: Place}} Record */
/** @typedef {(place: Place) => Promise<Record | null>} RecordAt null at the file's end */

// The most places of a kind that are looked up in the file, of this machine or of another. Each costs the unpacking of
// a block, and there a request.
const HERE = { contigs: 16, chunks: 32, offsets: 16, doubted: 32 };
const THERE = { contigs: 3, chunks: 3, offsets: 3, doubted: 8 };
const RECORD_HEAD = 36;
const UNMAPPED = 4;
// deflate packs at most 1,032 bytes into one, and a record has 36 bytes or more.
const MOST_READS_A_BYTE = 29;
const LARGEST_BLOCK = 1 << 16;
const KEPT_BLOCKS = 8;

/** The index contradicts its file. */
export class Contradiction extends Error {}

/** Looks up records of a BAM, of which a few blocks are kept. @param {SourceFile} file @param {number} contigs @returns {RecordAt} */
function bamRecords(file, contigs) {
  const nowhere = () => new Contradiction("no read begins where it says");
  /** @type {Map<number, {data: Uint8Array, behind: number | null}>} */
  const kept = new Map();
  /** @param {number} address */
  const unpacked = async (address) => {
    const held = kept.get(address);
    if (held) return held;
    const found = await blockAt(file, address);
    if (!found) throw new Contradiction("no block of the file begins where it says");
    if (kept.size >= KEPT_BLOCKS) kept.delete([...kept.keys()][0]);
    kept.set(address, found);
    return found;
  };
  return async ({ block, within }) => {
    let { data, behind } = await unpacked(block);
    while (within >= data.length) {
      if (behind === null && within === data.length) return null;
      if (behind === null || within > data.length) throw nowhere();
      [block, within] = [behind, 0];
      ({ data, behind } = await unpacked(block));
    }
    let head = data.slice(within, within + RECORD_HEAD);
    while (head.length < RECORD_HEAD) {
      if (behind === null) throw nowhere();
      ({ data, behind } = await unpacked(behind));
      head = Uint8Array.of(...head, ...data.subarray(0, RECORD_HEAD - head.length));
    }
    const view = new DataView(head.buffer);
    const [contig, position] = [view.getInt32(4, true), view.getInt32(8, true)];
    const [name, operations, flag] = [head[12], view.getUint16(16, true), view.getUint16(18, true)];
    const bases = view.getInt32(20, true);
    const least = RECORD_HEAD - 4 + name + 4 * operations + Math.floor((bases + 1) / 2) + bases;
    if (contig < -1 || contig >= contigs || bases < 0 || name < 1 || view.getInt32(0, true) < least) throw nowhere();
    return { contig, position, flag, at: { block, within } };
  };
}

/**
 * Requires that an index, whose offsets rise, has the contigs and the offsets of its file.
 *
 * @param {BamIndex} index
 * @param {SourceFile} file
 * @param {Place} first the file's first record
 * @param {string[]} contigs
 * @throws {Contradiction}
 */
async function checkLookups(index, file, first, contigs) {
  const number = index.chunks.length;
  if (number > contigs.length) throw new Contradiction(`it has ${number} contigs, the file ${contigs.length}`);
  const { order } = index;
  const last = order.map(({ end }) => end).reduce(later, { block: 0, within: 0 });
  const told = [...index.reads.values()].map(({ end }) => end).reduce(later, last);
  if (told.block > (await file.size())) throw new Contradiction("it leads beyond the file's end");
  const recordAt = bamRecords(file, contigs.length);
  const begins = await recordAt(first);
  if (!order.length) {
    if (begins && begins.contig >= 0) throw new Contradiction("it knows no reads");
    return;
  }
  const most = file.isRemote ? THERE : HERE;
  await checkChunks(index, recordAt, begins, contigs, most);
  await checkOffsets(index, recordAt, contigs, most);
  for (const { begin, end } of some(gaps(index), most.doubted)) {
    const found = await recordAt(begin);
    if (found && compare(found.at, end) < 0 && !(found.flag & UNMAPPED)) {
      throw new Contradiction(`it does not know all reads of ${contigs[Math.max(found.contig, 0)]}`);
    }
  }
  checkCounts(index, contigs);
  const behind = await recordAt(last);
  if (behind && behind.contig >= 0) throw new Contradiction("it does not know the last reads");
}

/** @param {BamIndex} index @param {RecordAt} recordAt @param {Record | null} first @param {string[]} contigs @param {typeof HERE} most */
async function checkChunks(index, recordAt, first, contigs, most) {
  const { order } = index;
  const firsts = index.chunks.filter((chunks) => chunks.length).map(([chunk]) => chunk);
  for (const chunk of new Set([...some(firsts, most.contigs), ...some(order, most.chunks)])) {
    const found = await recordAt(chunk.begin);
    const [low, high] = index.spanOfBin(chunk.bin);
    // A read whose position lies before its contig's start has a bin, too.
    const isInBin = found && (found.position < 0 || (low <= found.position && found.position < high));
    if (found?.contig !== chunk.contig || !isInBin) {
      throw new Contradiction(`the reads of ${contigs[chunk.contig]} begin elsewhere`);
    }
    if (chunk === order[0] && first && compare(found.at, first.at)) {
      throw new Contradiction("it does not know the first reads");
    }
  }
}

/** Looks up the table of offsets, and the chunks whose reads would be passed over for it. @param {BamIndex} index @param {RecordAt} recordAt @param {string[]} contigs @param {typeof HERE} most */
async function checkOffsets(index, recordAt, contigs, most) {
  const known = index.starts.flatMap((starts, contig) => starts.map(({ offset }) => ({ contig, offset })));
  for (const { contig, offset } of some(known, most.offsets)) {
    if ((await recordAt(offset))?.contig !== contig) {
      throw new Contradiction(`the reads of ${contigs[contig]} begin elsewhere`);
    }
  }
  for (const { contig, begin } of some(passedOver(index), most.doubted)) {
    const found = await recordAt(begin);
    // biobambam2 does not count unmapped reads as reads of a window. They are not used.
    if (!found || !(found.flag & UNMAPPED)) {
      throw new Contradiction(`reads of ${contigs[contig]} lie before the offset that it gives for them`);
    }
  }
}

/** Requires that a contig's bytes can hold its reads. @param {BamIndex} index @param {string[]} contigs */
function checkCounts(index, contigs) {
  for (const [contig, { mapped, unmapped }] of index.reads) {
    const { first, last } = extent(index.chunks[contig]);
    const blocks = (last ? last.block - first.block : 0) + LARGEST_BLOCK;
    if (mapped + unmapped > MOST_READS_A_BYTE * blocks) {
      throw new Contradiction(`it counts more reads of ${contigs[contig]} than the file can hold`);
    }
  }
}

/** Some of many, evenly. @template Item @param {Item[]} items @param {number} most */
function some(items, most) {
  const step = (items.length - 1) / (most - 1);
  const picked = Array.from({ length: items.length ? most : 0 }, (_, i) => Math.floor(i * step));
  return [...new Set(picked)].map((at) => items[Math.min(at, items.length - 1)]);
}

/** Requires that chunks, and the table of offsets, are in the order of the file. @param {BamIndex} index @throws {DamagedIndex} */
function requireRising(index) {
  const { order } = index;
  if (order.some(({ begin }, i) => i > 0 && compare(begin, order[i - 1].begin) < 0)) {
    throw new DamagedIndex("reads of a contig lie among those of another");
  }
  index.chunks.forEach((chunks, contig) => {
    const begins = windowsOfChunks(index, chunks);
    if (chunks.some(({ bin }, i) => begins[i] >= index.windowOf(index.spanOfBin(bin)[1]))) {
      throw new DamagedIndex("its bins are in another order than the reads");
    }
    const known = index.starts[contig];
    const { first, last } = extent(chunks);
    if (last && known.some(({ offset }) => compare(offset, first) < 0 || compare(offset, last) >= 0)) {
      throw new DamagedIndex("an offset lies outside the reads of its contig");
    }
    if (order.length && known.some(({ offset }, i) => i > 0 && compare(offset, known[i - 1].offset) < 0)) {
      throw new DamagedIndex("its offsets do not rise");
    }
  });
}

/** Where a contig's first chunk begins, and its last one ends. @param {Chunk[]} chunks of it, in order */
function extent(chunks) {
  return chunks.length
    ? { first: chunks[0].begin, last: chunks.map(({ end }) => end).reduce(later) }
    : { first: null, last: null };
}

/** The chunks whose first read lies before the offset at which the reads of its window begin. @param {BamIndex} index */
function passedOver(index) {
  return index.chunks.flatMap((chunks, contig) => {
    const begins = windowsOfChunks(index, chunks);
    const known = index.starts[contig];
    let at = -1;
    return chunks.filter(({ begin }, i) => {
      while (at + 1 < known.length && known[at + 1].window <= begins[i]) at++;
      return at >= 0 && compare(known[at].offset, begin) > 0;
    });
  });
}

/** Where each part of the file begins that belongs to no chunk, and where the chunk behind it begins. @param {BamIndex} index */
function gaps(index) {
  const found = [];
  const { order } = index;
  let before = order[0]?.end;
  for (const { begin, end } of order) {
    if (compare(begin, before) > 0) found.push({ begin: before, end: begin });
    before = later(before, end);
  }
  return found;
}

/** For each chunk of a contig the first window that its first read may begin in, which is no earlier than that before. @param {BamIndex} index @param {Chunk[]} chunks */
function windowsOfChunks(index, chunks) {
  let window = 0;
  return chunks.map(({ bin }) => {
    // Reads that lie before their contig's start have a bin, too: the number before that of the smallest bins.
    const start = bin === bins(index.depth) - 1 ? 0 : index.spanOfBin(bin)[0];
    return (window = Math.max(window, index.windowOf(start)));
  });
}
