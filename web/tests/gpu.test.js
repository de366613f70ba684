import assert from "node:assert/strict";
import { test } from "node:test";

import { packBatch } from "../src/batch.js";
import { GpuChoice, crossover } from "../src/gpu/choice.js";
import { Device, Unavailable } from "../src/gpu/device.js";
import { cellsOf, piecesOf, takeReads } from "../src/pieces.js";
import { randomGroups } from "./random.js";

const batch = packBatch([
  ...randomGroups({ groups: 3, reads: 40, haplotypes: 5, seed: 1 }),
  { reads: [], haplotypes: ["ACGT"] },
  ...randomGroups({ groups: 2, reads: 7, haplotypes: 3, seed: 2 }),
]);

test("pieces hold every pair once, and no more cells than they may", () => {
  const most = 5e6;
  let pairs = 0;
  let cells = 0;
  for (const { first, end, pair, cells: own } of piecesOf(batch, () => most)) {
    const part = takeReads(batch, first, end);
    assert.equal(pair, pairs);
    assert.equal(cellsOf(part), own);
    assert.ok(own <= most);
    pairs += part.pairs;
    cells += own;
  }
  assert.equal(pairs, batch.pairs);
  assert.equal(cells, cellsOf(batch));
});

test("a piece has at most so many pairs, but some reads at least", () => {
  const pairsOf = (/** @type {import("../src/pieces.js").Piece} */ { first, end }) =>
    takeReads(batch, first, end).pairs;
  assert.ok(
    Array.from(
      piecesOf(batch, () => 1e12, 24),
      pairsOf,
    ).every((pairs) => pairs <= 24),
  );
  assert.ok(Array.from(piecesOf(batch, () => 1, 1)).every(({ first, end }) => end - first <= 4));
});

test("a batch that fits is one piece", () => {
  const [only, ...others] = piecesOf(batch, () => 1e12, 1e9);
  assert.deepEqual([only.first, only.end, only.pair], [0, batch.readOffset.length - 1, 0]);
  assert.equal(others.length, 0);
});

test("the GPU takes batches from the crossover on, and none if it is slower", () => {
  assert.equal(crossover(1e-3, 1e-11, 1.01e-9), 1e6);
  assert.equal(crossover(1e-3, 2e-9, 1e-9), Infinity);
});

/** A GPU that says what it is told. @param {() => Promise<any>} forward */
const fakeGpu = (forward) =>
  /** @type {any} */ ({ description: "WebGPU (fake), shuffles", lost: new Promise(() => {}), forward, close() {} });

test("where the GPU fails, the workers take the batch and all that follow, and it is said once", async () => {
  /** @type {string[]} */
  const said = [];
  const scores = { log10: new Float64Array(1), precision: new Uint8Array(1) };
  const cpu = /** @type {any} */ ({ forward: async () => scores });
  const gpu = fakeGpu(() => Promise.reject(new Error("no memory")));
  const choice = new GpuChoice(gpu, cpu, (message) => void said.push(message));
  assert.ok(choice.takes(batch));
  assert.equal(await choice.forward(batch, {}), scores);
  assert.deepEqual(said, ["the GPU failed: no memory; WebAssembly takes over"]);
  assert.ok(!choice.takes(batch));
  assert.equal(choice.description, "");
});

test("a cancelled batch is not taken over", async () => {
  const gpu = fakeGpu(() => Promise.reject(new Error("cancelled")));
  const choice = new GpuChoice(gpu, /** @type {any} */ ({}), () => assert.fail());
  const signal = AbortSignal.abort(new Error("enough"));
  await assert.rejects(choice.forward(batch, { signal }), /enough/);
});

test("why there is no GPU is said", async () => {
  const data = /** @type {any} */ ({});
  await assert.rejects(
    Device.start(data),
    new Unavailable("this browser has no WebGPU, or the page is not from https:, localhost or file:"),
  );
  const none = /** @type {any} */ ({ requestAdapter: async () => null });
  await assert.rejects(Device.start(data, { gpu: none }), { name: "Unavailable", message: /gives no GPU to pages/ });
  const info = { vendor: "google", device: "SwiftShader", description: "", isFallbackAdapter: true };
  const software = /** @type {any} */ ({ requestAdapter: async () => ({ info }) });
  const options = { gpu: software, allowsSoftware: false };
  await assert.rejects(Device.start(data, options), { name: "Unavailable", message: /a program stands for the GPU/ });
});
