import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { packBatch } from "../src/batch.js";
import { forward } from "../src/cpu/forward.js";
import { Native } from "../src/cpu/native.js";
import { Engine } from "../src/engine.js";
import { cut, takeReads } from "../src/pieces.js";
import { randomGroups } from "./random.js";
import { readWasm } from "./files.js";

/** @type {Engine} */
let engine;
/** @type {Native} */
let native;
const alone = (/** @type {import("../src/batch.js").Batch} */ batch) => forward(native, batch);

before(async () => {
  const wasm = await readWasm();
  engine = await Engine.start({ wasm, workers: 2 });
  native = await Native.start(wasm);
});
after(() => engine.close());

test("an engine says what scores", () => {
  assert.equal(engine.description, "WebAssembly SIMD, 2 workers");
});

test("workers give the scores of one thread, bit by bit", async () => {
  const batch = packBatch(randomGroups({ groups: 6, reads: 150, haplotypes: 7, seed: 1 }));
  assert.ok(cut(batch, 2).length > 2);
  assert.deepEqual(await engine.forward(batch), alone(batch));
});

test("batches may be under way together", async () => {
  const batches = [1, 2, 3, 4].map((seed) => packBatch(randomGroups({ groups: 2, reads: 20, haplotypes: 3, seed })));
  const scores = await Promise.all(batches.map((batch) => engine.forward(batch)));
  assert.deepEqual(
    scores,
    batches.map((batch) => alone(batch)),
  );
});

test("a batch without pairs has no scores", async () => {
  const scores = await engine.forward(packBatch([{ reads: [], haplotypes: ["ACGT"] }]));
  assert.deepEqual(scores, { log10: new Float64Array(0), precision: new Uint8Array(0) });
});

test("pieces are consecutive reads, and hold every pair once", () => {
  const groups = [
    { reads: [], haplotypes: ["ACGT"] },
    ...randomGroups({ groups: 3, reads: 101, haplotypes: 4, seed: 5 }),
    { reads: [{ bases: "ACGT", baseQuality: 30 }], haplotypes: [] },
    ...randomGroups({ groups: 1, reads: 3000, haplotypes: 2, seed: 6 }),
  ];
  const batch = packBatch(groups);
  const pieces = cut(batch, 2);
  assert.ok(pieces.length > 4);
  const whole = alone(batch);
  let pair = 0;
  let read = 0;
  for (const piece of pieces) {
    assert.equal(piece.pair, pair);
    assert.ok(piece.first <= read || batch.readOffset[read] === batch.readOffset[piece.first]);
    const own = takeReads(batch, piece.first, piece.end);
    assert.deepEqual(alone(own).log10, whole.log10.slice(pair, pair + own.pairs));
    pair += own.pairs;
    read = piece.end;
  }
  assert.equal(pair, batch.pairs);
});

test("one worker takes a small batch whole, and pieces of several end with groups where these are small", () => {
  const batch = packBatch(randomGroups({ groups: 10, reads: 60, haplotypes: 3, seed: 7 }));
  assert.equal(cut(batch, 1).length, 1);
  const pieces = cut(batch, 2);
  assert.ok(pieces.length > 2);
  assert.ok(batch.groupRead.includes(pieces[0].end));
});

test("a signal ends a batch, and the engine goes on", async () => {
  const batch = packBatch(randomGroups({ groups: 20, reads: 300, haplotypes: 20, seed: 2 }));
  const controller = new AbortController();
  const scores = engine.forward(batch, { signal: controller.signal });
  setTimeout(() => controller.abort(new Error("enough")), 5);
  await assert.rejects(scores, /^Error: enough$/);
  await assert.rejects(engine.forward(batch, { signal: AbortSignal.abort() }), { name: "AbortError" });
  const small = packBatch(randomGroups({ groups: 1, reads: 5, haplotypes: 2, seed: 3 }));
  assert.deepEqual(await engine.forward(small), alone(small));
});

test("a worker that dies is one error, and another takes its place", async () => {
  const other = await Engine.start({ wasm: await readWasm(), workers: 1 });
  const batch = packBatch(randomGroups({ groups: 1, reads: 5, haplotypes: 2, seed: 4 }));
  const far = new Uint16Array(batch.bases.length).fill(65535);
  const broken = { ...batch, rows: new Float64Array(12).fill(0.5), kinds: far };
  await assert.rejects(other.forward(broken), /a worker of the engine stopped: the C\+\+ part failed/);
  assert.deepEqual(await other.forward(batch), alone(batch));
  other.close();
});

test("unscored pairs are scored in float64", async () => {
  const batch = packBatch(randomGroups({ groups: 3, reads: 9, haplotypes: 4, seed: 7 }));
  const whole = alone(batch);
  const scores = { log10: whole.log10.slice(), precision: whole.precision.slice() };
  for (const pair of [0, 3, 50, 51, 107]) scores.log10[pair] = NaN;
  assert.equal((await engine.cpu.forward(batch, { known: scores })).log10, scores.log10);
  for (const pair of [0, 3, 50, 51, 107]) {
    assert.ok(Math.abs(scores.log10[pair] - whole.log10[pair]) < 1e-5);
    assert.equal(scores.precision[pair], 1);
    scores.log10[pair] = whole.log10[pair];
  }
  assert.deepEqual(scores.log10, whole.log10);
});

test("haplotypes have flags", async () => {
  const phred = (/** @type {string} */ text) => Array.from(text, (letter) => letter.charCodeAt(0) - 33);
  /** @param {string} bases @param {string[]} qualities */
  const read = (bases, ...[base, insertion, deletion, gap]) => ({
    bases,
    baseQuality: phred(base),
    insertionQuality: phred(insertion),
    deletionQuality: phred(deletion),
    gapQuality: phred(gap),
  });
  const published = [
    { reads: [read("ca", "ry", "qX", "C7", "1u")], haplotypes: ["T"], flags: [[-68]], score: -14.08817 },
    { reads: [read("gTA", "@4_", "t)U", "cr|", "u3J")], haplotypes: ["AA"], flags: [[74, 92]], score: -4.678117 },
  ];
  const { log10 } = await engine.forward(packBatch(published));
  published.forEach(({ score }, at) => assert.ok(Math.abs(log10[at] - score) < 1e-5));
  const [{ reads, haplotypes }] = published;
  assert.throws(() => packBatch([{ reads, haplotypes, flags: [[1, 2]] }]), /haplotype 0: 2 flags for 1 letters/);
  assert.throws(() => packBatch([{ reads, haplotypes, flags: [[1], [2]] }]), /flags of 2 haplotypes, but there are 1/);
});

test("a closed engine says so", async () => {
  const other = await Engine.start({ wasm: await readWasm(), workers: 1 });
  const batch = packBatch(randomGroups({ groups: 20, reads: 300, haplotypes: 20, seed: 2 }));
  const scores = other.forward(batch);
  other.close();
  await assert.rejects(scores, /the engine is closed/);
  await assert.rejects(other.forward(batch), /the engine is closed/);
});

test("what is no module, and no number of workers, is an error", async () => {
  const nothing = new Uint8Array([1, 2, 3]);
  await assert.rejects(Engine.start({ wasm: nothing }), WebAssembly.CompileError);
  await assert.rejects(Engine.start({ wasm: nothing, workers: 0 }), RangeError);
});
