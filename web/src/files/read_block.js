// Many aligned reads as a few flat arrays, which lie in the module's memory (cpu/formats/alignments.hpp).

/** @import { Native } from "../cpu/native.js" */

// The fields of a BlockView (cpu/wasm/alignments.cpp).
const FIELDS = /** @type {const} */ ([
  "nameEnd",
  "sample",
  "flag",
  "start",
  "end",
  "baseOffset",
  "names",
  "odd",
  "groups",
  "groupEnd",
]);

/** Aligned reads of one contig, in order of start. All coordinates are 0-based half-open. Arrays are views or copies. */
export class ReadBlock {
  /** @param {Native} native @param {number} pointer an AlignmentBlock, which this owns @param {string[]} contigs in the order of the run */
  constructor(native, pointer, contigs) {
    this.native = native;
    this.pointer = pointer;
    this.contigs = contigs;
    this.places = native.places(FIELDS, (view) => native.call.alignments_view(pointer, view));
    this.length = this.places.flag.count;
    this.chrom = this.length ? contigs[native.call.alignments_contig(pointer)] : "";
  }

  /**
   * Some reads of some blocks of one contig, by start. Those of one start stay in the given order.
   *
   * @param {{block: ReadBlock, first: number, end: number}[]} parts
   */
  static merged(parts) {
    const { native, contigs } = parts[0].block;
    const pointer = native.with((arrays) =>
      native.call.alignments_merge(
        parts.length,
        arrays.pass(Uint32Array.from(parts, ({ block }) => block.pointer)),
        arrays.pass(Uint32Array.from(parts, ({ first }) => first)),
        arrays.pass(Uint32Array.from(parts, ({ end }) => end)),
      ),
    );
    return new ReadBlock(native, pointer, contigs);
  }

  release() {
    this.native.call.alignments_block_free(this.pointer);
  }

  get start() {
    return this.native.numbers(this.places.start);
  }

  get end() {
    return this.native.numbers(this.places.end);
  }

  /** Where each read's bases and qualities begin, and where the last ones end. */
  get baseOffset() {
    return this.native.numbers(this.places.baseOffset);
  }

  /** Indices into the list of samples; -1: the read is odd. */
  get sample() {
    return this.native.view(Int32Array, this.places.sample);
  }

  /** The first read that tables and our C++ can't take, and what it has; null without one. */
  get unfit() {
    const [read, quality, spelled, bases] = this.native.taken(this.native.call.alignments_unfit(this.pointer));
    if (read === undefined) return null;
    return { name: new TextDecoder().decode(this.#parts("names", "nameEnd")(read)), quality, spelled, bases };
  }

  /** How many bases of a read are compared with the reference, and how many differ. @param {number} read @param {string} letters of the reference where it lies */
  differences(read, letters) {
    const { native, pointer } = this;
    const counts = native.with((arrays) => native.call.alignments_differences(pointer, read, ...arrays.text(letters)));
    const [compared, differing] = native.taken(counts);
    return { compared, differing };
  }

  /** The reads whose names are not ASCII, and those whose read groups are to be looked at: with the group's type and value. */
  get odd() {
    const reads = this.native.numbers(this.places.odd);
    if (!reads.length) return [];
    const [names, groups] = [this.#parts("names", "nameEnd"), this.#parts("groups", "groupEnd")];
    return Array.from(reads, (read, index) => ({ read, name: names(read), group: groups(index) }));
  }

  /** Gives copies of the parts of bytes. @param {"names" | "groups"} bytes @param {"nameEnd" | "groupEnd"} ends */
  #parts(bytes, ends) {
    const all = this.native.view(Uint8Array, this.places[bytes]).slice();
    const end = this.native.numbers(this.places[ends]);
    return (/** @type {number} */ index) => all.subarray(index ? end[index - 1] : 0, end[index]);
  }
}

/** Blocks of one contig as one, in place of these. @param {ReadBlock[]} blocks */
export function together(blocks) {
  if (blocks.length === 1) return blocks[0];
  const whole = ReadBlock.merged(blocks.map((block) => ({ block, first: 0, end: block.length })));
  for (const block of blocks) block.release();
  return whole;
}
