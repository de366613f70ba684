// Indexes of BAM files, .bai and .csi, and whether they belong to their file (pairhmm/io/alignments/index.py).

import { BAI, CSI } from "@gmod/bam";

import { blocksFrom, DamagedBlock, isBlock } from "./bgzf.js";
import { InputProblem } from "./problem.js";
import { SourceFile } from "./sources.js";

/** @typedef {import("./bam.js").Header} Header */
/** @typedef {import("./sources.js").Source} Source */
/** @typedef {{block: number, within: number}} Place a block's address, and a place among its unpacked bytes */
/** @typedef {{blockPosition: number, dataPosition: number}} Offset */

// The most contigs whose first reads are looked up in the file, of this machine or of another. Each costs the unpacking
// of a block, and there a request.
const [LOOKED_UP, LOOKED_UP_THERE] = [32, 3];
const RECORD_HEAD = 36;
// Bins of a contig in a .bai.
const BINS = 37449;

/** The index contradicts its file. */
class Contradiction extends Error {}

/** The index of a BAM file. */
export class BamIndex {
  /** @param {BAI | CSI} index @param {string} name @param {SourceFile} file */
  constructor(index, name, file) {
    this.index = index;
    this.name = name;
    this.file = file;
  }

  /**
   * @param {Source} source
   * @param {SourceFile} file the BAM
   * @param {Header} header
   * @param {Place} first the file's first record
   * @throws {InputProblem} for a damaged index, and for that of another file
   */
  static async open(source, file, header, first) {
    const packed = new SourceFile(`${file.name}.bai`, source);
    const isCsi = isBlock(await packed.read(0, 18));
    const name = `${file.name}.${isCsi ? "csi" : "bai"}`;
    const damaged = new InputProblem(name, "", "is damaged, or no index", `run samtools index ${file.name}`);
    if (isCsi && !(await isWhole(packed))) throw damaged;
    const bytes = await packed.whole();
    const why = isCsi ? null : damage(bytes);
    if (why) throw new InputProblem(name, "", `is damaged: ${why}`, `run samtools index ${file.name}`);
    const index = new (isCsi ? CSI : BAI)({ filehandle: new SourceFile(name, bytes).handle });
    await index.parse().catch(() => {
      throw damaged;
    });
    const opened = new BamIndex(index, name, file);
    await opened.#told(() => opened.#check(header, first));
    return opened;
  }

  /** Mapped reads of a contig; 0 in older indexes. @param {number} tid */
  mappedReads(tid) {
    return this.index.lineCount(tid);
  }

  /**
   * Where the reads that overlap [start, end) of a contig lie, in order. Others lie there, too.
   *
   * @param {number} tid
   * @param {number} start
   * @param {number} end
   * @returns {Promise<{begin: Place, behind: Place}[]>}
   */
  async places(tid, start, end) {
    /** @type {{begin: Place, behind: Place}[]} */
    const places = [];
    for (const { minv, maxv } of await this.index.blocksForRange(tid, start, end)) {
      const last = places.at(-1)?.behind;
      let begin = placeOf(minv);
      // What the chunk before has is not read again.
      if (last && isBefore(begin, last)) begin = last;
      if (isBefore(begin, placeOf(maxv))) places.push({ begin, behind: placeOf(maxv) });
    }
    return places;
  }

  /** @param {() => Promise<void>} check */
  async #told(check) {
    try {
      await check();
    } catch (error) {
      // A damaged file is reported where it is read.
      if (error instanceof DamagedBlock) return;
      if (!(error instanceof Contradiction)) throw error;
      const rule = `is not the index of ${this.file.name} as it is now: ${error.message}`;
      throw new InputProblem(this.name, "", rule, `run samtools index ${this.file.name}`);
    }
  }

  /** @param {Header} header @param {Place} first */
  async #check({ names }, first) {
    const { indices, refCount } = await this.index.parse();
    if (refCount > names.length) throw new Contradiction(`it has ${refCount} contigs, the file ${names.length}`);
    /** @type {{tid: number, minv: Place}[]} */
    const firsts = [];
    let last = first;
    for (let tid = 0; tid < refCount; tid++) {
      const chunks = Object.values(indices(tid)?.binIndex ?? {}).flat();
      if (!chunks.length) continue;
      const begins = chunks.map(({ minv }) => placeOf(minv));
      firsts.push({ tid, minv: begins.reduce((least, one) => (isBefore(one, least) ? one : least)) });
      for (const { maxv } of chunks) if (isBefore(last, placeOf(maxv))) last = placeOf(maxv);
    }
    if (last.block > (await this.file.size())) throw new Contradiction("it leads beyond the file's end");
    const real = await this.#recordAt(first, names.length);
    if (!firsts.length) {
      if (real && real.tid >= 0) throw new Contradiction("it knows no reads");
      return;
    }
    const step = Math.ceil(firsts.length / (this.file.isRemote ? LOOKED_UP_THERE : LOOKED_UP));
    for (let i = 0; i < firsts.length; i += step) {
      const { tid, minv } = firsts[i];
      const found = await this.#recordAt(minv, names.length);
      if (found?.tid !== tid) throw new Contradiction(`the reads of ${names[tid]} begin elsewhere`);
      if (i === 0 && real && (found.at.block !== real.at.block || found.at.within !== real.at.within)) {
        throw new Contradiction("it does not know the first reads");
      }
    }
    const behind = await this.#recordAt(last, names.length);
    if (behind && behind.tid >= 0) throw new Contradiction("it does not know the last reads");
  }

  /** The contig of the record at a place, and where it begins; null at the end of the file. @param {Place} place @param {number} contigs */
  async #recordAt({ block, within }, contigs) {
    const nowhere = () => new Contradiction("no read begins where it says");
    /** @type {{address: number, data: Uint8Array}[]} */
    const held = [];
    let size = 0;
    for await (const { addresses, begins, data } of this.#blocks(block)) {
      addresses.forEach((address, index) =>
        held.push({ address, data: data.subarray(begins[index], begins[index + 1]) }),
      );
      size += data.length;
      if (size >= within + RECORD_HEAD) break;
    }
    if (within > (held[0]?.data.length ?? 0)) throw nowhere();
    const bytes = new Uint8Array(size);
    let [at, number] = [0, 0];
    for (const { data } of held) {
      bytes.set(data, at);
      at += data.length;
    }
    if (size === within) return null;
    if (size < within + RECORD_HEAD) throw nowhere();
    const view = new DataView(bytes.buffer, within);
    const tid = view.getInt32(4, true);
    const [name, operations, bases] = [bytes[within + 12], view.getUint16(16, true), view.getInt32(20, true)];
    const least = RECORD_HEAD - 4 + name + 4 * operations + ((bases + 1) >> 1) + bases;
    if (tid < -1 || tid >= contigs || bases < 0 || name < 1 || view.getInt32(0, true) < least) throw nowhere();
    let rest = within;
    while (rest >= held[number].data.length) rest -= held[number++].data.length;
    return { tid, at: { block: held[number].address, within: rest } };
  }

  /** @param {number} address */
  async *#blocks(address) {
    const head = await this.file.read(address, 18);
    if (head.length && !isBlock(head)) throw new Contradiction("no block of the file begins where it says");
    yield* blocksFrom(this.file, address, address);
  }
}

/** Whether the checksums of a bgzipped file are right. @param {SourceFile} file */
async function isWhole(file) {
  try {
    for await (const _ of blocksFrom(file, 0));
    return true;
  } catch (error) {
    if (error instanceof DamagedBlock) return false;
    throw error;
  }
}

/**
 * What is wrong in a .bai: counts that it can't hold, and offsets of windows that lie outside the reads of their contig,
 * or fall (pairhmm/io/alignments/index_offsets.py). Zeros stand where no read has begun.
 *
 * @param {Uint8Array} bytes
 */
function damage(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 4;
  const count = () => view.getUint32((at += 4) - 4, true);
  const offset = () => view.getBigUint64((at += 8) - 8, true);
  try {
    for (let contigs = count(); contigs > 0; contigs--) {
      let [first, last] = [2n ** 64n, 0n];
      for (let bins = count(); bins > 0; bins--) {
        const isBin = count() < BINS;
        for (let chunks = count(); chunks > 0; chunks--) {
          const [begin, end] = [offset(), offset()];
          if (!isBin) continue;
          if (begin > end) return "a chunk ends before it begins";
          if (begin < first) first = begin;
          if (end > last) last = end;
        }
      }
      let before = 0n;
      for (let windows = count(); windows > 0; windows--) {
        const one = offset();
        if (one === 0n || last === 0n) continue;
        if (one < first || one >= last) return "an offset lies outside the reads of its contig";
        if (one < before) return "its offsets do not rise";
        before = one;
      }
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return "it ends early";
  }
  return null;
}

/** @param {Offset} offset @returns {Place} */
function placeOf({ blockPosition, dataPosition }) {
  return { block: blockPosition, within: dataPosition };
}

/** @param {Place} one @param {Place} other */
function isBefore(one, other) {
  return one.block < other.block || (one.block === other.block && one.within < other.within);
}
