// Scores a batch that Python wrote: node scores.mjs BATCH SCORES. For each pair, score and precision as float64.

import { readFile, writeFile } from "node:fs/promises";

import { Engine } from "../../web/src/engine.js";
import { readBatch } from "../../web/tests/batch_file.js";

const [, , from, to] = process.argv;
const wasm = await readFile(new URL("../../build/web/pairhmm.wasm", import.meta.url));
const engine = await Engine.start({ wasm, workers: 2 });
const { log10, precision } = await engine.forward((await readBatch(from)).batch);
await writeFile(
  to,
  Float64Array.from({ length: 2 * log10.length }, (_, at) => (at % 2 ? precision : log10)[at >> 1]),
);
engine.close();
