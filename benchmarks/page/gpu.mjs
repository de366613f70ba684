// The page's WebGPU host on a batch, by Node with Dawn: node gpu.mjs DAWN BATCH RUNS. Prints seconds of kernels (median) and
// from arrays (best), and the largest difference from the scores in the batch's file, as JSON.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

import { Gpu } from "../../web/src/gpu/gpu.js";
import { readBatch } from "../../web/tests/batch_file.js";
import { readWasm } from "../../web/tests/files.js";

const [dawn, path, count] = process.argv.slice(2);
const { create, globals } = createRequire(import.meta.url)(dawn);
Object.assign(globalThis, globals);
const data = JSON.parse(await readFile(new URL("../../build/web/gpu.json", import.meta.url), "utf8"));
const gpu = await Gpu.start({ wasm: await readWasm(), data, gpu: create([]), log: console.error });
console.error(gpu.description);

const { batch, more } = await readBatch(path);
let arrays = Infinity;
let log10 = new Float64Array(0);
for (let run = 0; run < Number(count); run++) {
  const begin = performance.now();
  ({ log10 } = await gpu.forward(batch));
  arrays = Math.min(arrays, (performance.now() - begin) / 1000);
}
const kernels = (await gpu.kernelSeconds(batch, Number(count))).sort((a, b) => a - b)[Number(count) >> 1];
let difference = 0;
log10.forEach((own, pair) => {
  const other = more.log10[pair];
  if (Number.isNaN(own) !== Number.isNaN(other)) difference = Infinity;
  else if (!Number.isNaN(own)) difference = Math.max(difference, Math.abs(own - other));
});
console.log(JSON.stringify({ kernels, arrays, difference }));
process.exit(0); // Dawn's instance keeps Node alive
