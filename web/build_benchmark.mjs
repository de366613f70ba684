// The benchmark page, one file: pairhmm/web_page/benchmark.html, which `pairhmm page --benchmark` copies.
//
//     node build_benchmark.mjs    # `make page` does it

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";

import { bundled } from "./build.mjs";

const HERE = new URL(".", import.meta.url);
const PAGE = new URL("src/benchmark/", HERE);
const MADE = new URL("../build/web/", HERE);
const BUILT = new URL("../pairhmm/web_page/", HERE);
const STYLES = [new URL("../pairhmm/report_page/page.css", HERE), new URL("benchmark.css", PAGE)];

/** @param {URL} file */
const text = (file) => readFile(file, "utf8");

/** Base64 of raw deflate. @param {string} name of a file in build/web */
const packed = async (name) => deflateRawSync(await readFile(new URL(name, MADE)), { level: 9 }).toString("base64");

const parts = {
  version: JSON.parse(await text(new URL("package.json", HERE))).version,
  style: (await Promise.all(STYLES.map(text))).join(""),
  wasm: await packed("pairhmm.wasm"),
  kernels: await packed("gpu.json"),
  data: await packed("benchmark.json"),
  // In HTML, a script ends at the first "</script", wherever it stands.
  script: (await bundled(fileURLToPath(new URL("main.js", PAGE)), { minify: true })).replaceAll(
    "</script",
    "<\\/script",
  ),
};
const page = (await text(new URL("benchmark.html", PAGE))).replace(
  /\{\{(\w+)\}\}/g,
  (_, name) => parts[/** @type {keyof typeof parts} */ (name)],
);
await mkdir(BUILT, { recursive: true });
await writeFile(new URL("benchmark.html", BUILT), page);
console.log(`built: pairhmm/web_page/benchmark.html, ${(page.length / 1e6).toFixed(2)} MB`);
