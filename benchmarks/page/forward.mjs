// Scores a batch once for each line on standard input, and answers with the seconds it took: node forward.mjs BATCH WORKERS.

import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";

import { Engine } from "../../web/src/engine.js";
import { readBatch } from "../../web/tests/batch_file.js";

const [, , path, workers] = process.argv;
const wasm = await readFile(new URL("../../build/web/pairhmm.wasm", import.meta.url));
const engine = await Engine.start({ wasm, workers: Number(workers), gpu: "off" });
const { batch } = await readBatch(path);
const answer = (/** @type {object} */ values) => console.log(JSON.stringify(values));

await engine.forward(batch);
answer({ description: engine.description, node: process.version });
for await (const _ of createInterface({ input: process.stdin })) {
  const [cpu, wall] = [process.cpuUsage(), performance.now()];
  await engine.forward(batch);
  const { user, system } = process.cpuUsage(cpu);
  answer({ wall: (performance.now() - wall) / 1e3, cpu: (user + system) / 1e6 });
}
engine.close();
