// Prints, as JSON, what the WebGPU host makes of a fixture (tests/web/test_gpu.py): hashes of the texts of variants, of the
// tables, and of packed batches. Usage: node gpu_described.js GPU.json VARIANTS.json BATCH ...

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";

import { Native } from "../src/cpu/native.js";
import { pack } from "../src/gpu/layout.js";
import { phredTables } from "../src/gpu/tables.js";
import { source } from "../src/gpu/variants.js";
import { readBatch } from "./batch_file.js";
import { readWasm } from "./files.js";

const SHARE = 1 << 28;
const [dataPath, variantsPath, ...batches] = process.argv.slice(2);
const data = JSON.parse(await readFile(dataPath, "utf8"));
const variants = JSON.parse(await readFile(variantsPath, "utf8"));
const native = await Native.start(await readWasm());

/** @param {...(string | Uint8Array)} parts */
function hash(...parts) {
  const all = createHash("sha256");
  for (const part of parts) all.update(part);
  return all.digest("hex");
}

/** @param {string} path @param {number} subgroup */
async function described(path, subgroup) {
  const { batch } = await readBatch(path);
  const packed = pack(data, native, batch, subgroup, SHARE);
  const { tiers, rescues, listBytes, scratchBytes, outBytes } = packed;
  return {
    input: hash(packed.arrays, packed.behind),
    tiers: tiers.map(({ lanes, rows, items, atOnce, cells, walkers, scratchBytes: own, work }) => ({
      numbers: [lanes, rows, items, atOnce, cells, walkers, own],
      work: Buffer.from(work.bytes).toString("hex"),
    })),
    rescues: rescues.map(({ lanes, rows, work, workgroups }) => [
      lanes,
      rows,
      Buffer.from(work.bytes).toString("hex"),
      workgroups,
    ]),
    bytes: [listBytes, scratchBytes, outBytes],
  };
}

/** @type {unknown[]} */
const packed = [];
for (const path of batches) for (const subgroup of [32, 0]) packed.push(await described(path, subgroup));
const tables = hash(new Uint8Array(phredTables(data).buffer));
console.log(
  JSON.stringify({ texts: variants.map((/** @type {any} */ one) => hash(source(data, one))), tables, packed }),
);
