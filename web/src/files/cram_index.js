// The index of a CRAM file, and whether it belongs to that file (pairhmm/alignments/cram_index.py).

import { crc32 } from "../crc32.js";
import { unzipped } from "./byte_stream.js";
import { numberAt } from "./cram_blocks.js";
import { DamagedIndex } from "./bam_index.js";
import { Contradiction, withProblems } from "./index.js";
import { SourceFile } from "./sources.js";

/** @import { Source } from "./sources.js" */
/** @typedef {import("./cram.js").SlicePlace & {tid: number, start: number, span: number}} Slice a line of the index */
/** Offsets of slices count from the end of the head, which is where the container begins. */
/** @typedef {{tid: number, start: number, span: number, records: number, begin: number, end: number, slices: number[]}} Container */
/** @typedef {(at: number) => Promise<Container>} ContainerAt */

// The most containers that are looked up in the file, of this machine or of another, beside those that the index makes
// doubtful. Each costs a short read, and there a request.
const [LOOKED_UP, LOOKED_UP_THERE] = [256, 3];
const DOUBTED_THERE = 8;
// Bytes of a CRAM file's definition. Of a container's head: the most without its landmarks, and of each of these.
const [CRAM_HEAD, LONGEST_HEAD, LANDMARK] = [26, 64, 5];
const CHECKSUM_SIZE = 4;
const [UNMAPPED, SEVERAL_CONTIGS] = [-1, -2];
const NOWHERE = "no slice of the file begins where it says";

/** Where the slices of a CRAM file lie. */
export class CramIndex {
  /** @param {Slice[]} lines */
  constructor(lines) {
    this.lines = lines;
  }

  /** @param {Uint8Array} data unzipped @throws {DamagedIndex} for anything that is not as the specification has it */
  static parse(data) {
    /** @type {Slice[]} */
    const slices = [];
    const lines = new TextDecoder("latin1").decode(data).replace(/\n$/, "").split("\n");
    for (const line of data.length ? lines : []) {
      const fields = line.trim().split(/\s+/);
      if (fields.length !== 6 || !fields.every((field) => /^-?\d+$/.test(field))) throw new DamagedIndex();
      const [tid, start, span, containerStart, sliceStart, sliceBytes] = fields.map(Number);
      const isPossible = Math.min(span, sliceStart, sliceBytes) >= 0 && containerStart >= CRAM_HEAD;
      if (tid < SEVERAL_CONTIGS || !isPossible) throw new DamagedIndex();
      slices.push({ tid, start, span, containerStart, sliceStart, sliceBytes });
    }
    return new CramIndex(slices);
  }

  /** The slices with reads of [start, end) of a contig, in the order of the file. @param {number} tid @param {number} start @param {number} end */
  slices(tid, start, end) {
    // The index counts positions from 1.
    const found = this.lines.filter((one) => one.tid === tid && one.start <= end && one.start + one.span > start);
    return found.sort((a, b) => a.containerStart - b.containerStart || a.sliceStart - b.sliceStart);
  }
}

/**
 * @param {Source} source
 * @param {SourceFile} file
 * @param {number} contigs of its header
 * @throws {InputProblem} for a damaged index, and for that of another file
 */
export async function openCramIndex(source, file, contigs) {
  const name = `${file.name}.crai`;
  return withProblems(file, "crai", async () => {
    const index = CramIndex.parse(await unzipped(await new SourceFile(name, source).whole()));
    await check(index.lines, file, contigs);
    return index;
  });
}

/** Requires that an index has the contigs and the slices of its file. @param {Slice[]} slices @param {SourceFile} file @param {number} contigs @throws {Contradiction} */
async function check(slices, file, contigs) {
  const size = await file.size();
  const most = slices.reduce((last, { tid }) => Math.max(last, tid), UNMAPPED);
  if (most >= contigs) throw new Contradiction(`it has ${most + 1} contigs, the file ${contigs}`);
  if (slices.some((one) => one.containerStart + one.sliceStart + one.sliceBytes > size)) {
    throw new Contradiction("it leads beyond the file's end");
  }
  const [version] = await file.read(4, 1);
  // Later versions of CRAM encode numbers in another way.
  if (version !== 2 && version !== 3) return;
  /** @type {ContainerAt} */
  const containerAt = (at) => readContainer(file, version === 3, at);
  /** @type {Map<number, Slice[]>} */
  const ofContainer = new Map();
  const order = [...slices].sort((a, b) => a.containerStart - b.containerStart || a.sliceStart - b.sliceStart);
  for (const one of order) {
    const own = ofContainer.get(one.containerStart);
    if (own) own.push(one);
    else ofContainer.set(one.containerStart, [one]);
  }
  await checkBetween(containerAt, size, ofContainer, (await containerAt(CRAM_HEAD)).end);
  const known = [...ofContainer.keys()];
  const step = Math.max(1, (known.length - 1) / ((file.isRemote ? LOOKED_UP_THERE : LOOKED_UP) - 1));
  const picked = new Set(doubted(ofContainer).slice(0, file.isRemote ? DOUBTED_THERE : Infinity));
  for (let i = 0; Math.floor(i) < known.length; i += step) picked.add(known[Math.floor(i)]);
  if (known.length) picked.add(known[known.length - 1]);
  for (const at of picked) {
    const end = await checkContainer(containerAt, at, /** @type {Slice[]} */ (ofContainer.get(at)));
    await checkBetween(containerAt, size, ofContainer, end);
  }
}

/** Containers behind which there is more than the head of the next, and those that begin before earlier ones. @param {Map<number, Slice[]>} ofContainer */
function doubted(ofContainer) {
  const containers = [...ofContainer];
  let [contig, start] = [UNMAPPED, 0];
  return containers
    .filter(([at, own], i) => {
      const [first] = own;
      const isBefore = first.tid < contig || (first.tid === contig && first.start < start);
      if (!isBefore) [contig, start] = [first.tid, first.start];
      const end = own.reduce((last, one) => Math.max(last, at + one.sliceStart + one.sliceBytes), 0);
      const head = LONGEST_HEAD + LANDMARK * new Set(own.map(({ sliceStart }) => sliceStart)).size;
      return (first.tid >= 0 && isBefore) || (i + 1 < containers.length && containers[i + 1][0] - end > head);
    })
    .map(([at]) => at);
}

/** Compares a container with the lines of the index. Returns where it ends. @param {ContainerAt} containerAt @param {number} at @param {Slice[]} own */
async function checkContainer(containerAt, at, own) {
  const container = await containerAt(at);
  const offsets = new Set(own.map(({ sliceStart }) => sliceStart));
  const isOther =
    (container.tid !== SEVERAL_CONTIGS && own.some(({ tid }) => tid !== container.tid)) ||
    offsets.size !== new Set(container.slices).size ||
    container.slices.some((offset) => !offsets.has(offset)) ||
    own.some(({ sliceStart, sliceBytes }) => container.begin + sliceStart + sliceBytes > container.end);
  if (isOther) throw new Contradiction(NOWHERE);
  if (container.tid >= 0) {
    // A container of one slice begins and ends with it.
    const start = own.reduce((first, one) => Math.min(first, one.start), Infinity);
    const end = own.reduce((last, one) => Math.max(last, one.start + one.span), -Infinity);
    if (start !== container.start || end !== container.start + container.span) {
      throw new Contradiction("its slices have reads of other places");
    }
  }
  return container.end;
}

/** Requires that the containers from a place on, up to one that is known, have no aligned reads. @param {ContainerAt} containerAt @param {number} size of the file @param {Map<number, Slice[]>} known @param {number} at */
async function checkBetween(containerAt, size, known, at) {
  while (at < size && !known.has(at)) {
    const { records, tid, end } = await containerAt(at);
    if (records && tid !== UNMAPPED) throw new Contradiction("it does not know all reads");
    at = end;
  }
}

/** The head of a container. @param {SourceFile} file @param {boolean} hasChecksum @param {number} at @returns {Promise<Container>} @throws {Contradiction} where there is none */
async function readContainer(file, hasChecksum, at) {
  const nowhere = new Contradiction(NOWHERE);
  let head = await file.read(at, LONGEST_HEAD);
  let place = 4;
  const number = () => {
    const [value, behind] = numberAt(head, place);
    if (behind > head.length) throw nowhere;
    place = behind;
    return value;
  };
  if (head.length < place) throw nowhere;
  const length = new DataView(head.buffer, head.byteOffset).getInt32(0, true);
  const [tid, start, span, records] = [number(), number(), number(), number()];
  // Numbers of earlier records, and of bases, of up to 64 bits (LTF8).
  for (let i = 0; i < 2; i++) place += 1 + Math.min(8, Math.clz32(~(head[place] << 24)));
  number();
  const count = number();
  // A slice takes more bytes than its landmark.
  if (!(count >= 0 && count <= Math.max(0, length))) throw nowhere;
  const most = place + LANDMARK * count + CHECKSUM_SIZE;
  if (most > head.length) head = await file.read(at, most);
  const slices = Array.from({ length: count }, number);
  if (hasChecksum) {
    if (place + CHECKSUM_SIZE > head.length) throw nowhere;
    const checksum = new DataView(head.buffer, head.byteOffset).getUint32(place, true);
    if (crc32(head.subarray(0, place)) !== checksum) throw nowhere;
    place += CHECKSUM_SIZE;
  }
  const [begin, end] = [at + place, at + place + length];
  if (length < 0 || end > (await file.size())) throw nowhere;
  return { tid, start, span, records, begin, end, slices };
}
