// The page, one file that needs no other: pairhmm/web_page/pairhmm.html, which `pairhmm page` copies.
//
//     node build_page.mjs    # `make page` does it, after build/web/pairhmm.wasm and build/web/gpu.json

import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";

import { bundled } from "./build.mjs";

const HERE = new URL(".", import.meta.url);
const PAGE = new URL("src/page/", HERE);
const WASM = new URL("../build/web/pairhmm.wasm", HERE);
const KERNELS = new URL("../build/web/gpu.json", HERE);
const BUILT = new URL("../pairhmm/web_page/", HERE);
const REPORT = new URL("../pairhmm/report/page/", HERE);
const STYLES = [
  new URL("page.css", REPORT),
  new URL("table.css", REPORT),
  new URL("panel.css", REPORT),
  new URL("print.css", REPORT),
  new URL("map.css", REPORT),
  new URL("page.css", PAGE),
];

/** @param {string} name */
const script = (name, plugins = /** @type {import("esbuild").Plugin[]} */ ([])) =>
  bundled(fileURLToPath(new URL(name, PAGE)), { format: "iife", minify: true, plugins });

/**
 * @gmod/bgzf-filehandle fetches its WebAssembly from a data: address, which the page's policy forbids as any request.
 * Here it decodes the address instead.
 *
 * @type {import("esbuild").Plugin}
 */
const withoutFetch = {
  name: "bgzf without fetch",
  setup({ onLoad }) {
    onLoad({ filter: /bgzf-wasm-inlined\.js$/ }, async ({ path }) => {
      const fetched = /await fetch\((\w+)\)/;
      const contents = await readFile(path, "utf8");
      if (!fetched.test(contents)) throw new Error(`${path}: fetches its WebAssembly in another way`);
      const decoded = 'new Response(Uint8Array.from(atob($1.split(",")[1]), (letter) => letter.charCodeAt(0)))';
      return { contents: contents.replace(fetched, decoded) };
    });
  },
};

/** @param {URL} file */
const text = (file) => readFile(file, "utf8");

/** Base64 of raw deflate. @param {Uint8Array | string} bytes */
const packed = (bytes) => deflateRawSync(bytes, { level: 9 }).toString("base64");

const parts = {
  version: JSON.parse(await text(new URL("package.json", HERE))).version,
  style: (await Promise.all(STYLES.map(text))).join(""),
  wasm: packed(await readFile(WASM)),
  kernels: packed(await readFile(KERNELS)),
  worker: packed(await script("run_worker.js", [withoutFetch])),
  // In HTML, a script ends at the first "</script", wherever it stands.
  script: (await script("main.js")).replaceAll("</script", "<\\/script"),
};
const page = (await text(new URL("page.html", PAGE))).replace(
  /\{\{(\w+)\}\}/g,
  (_, name) => parts[/** @type {keyof typeof parts} */ (name)],
);
await mkdir(BUILT, { recursive: true });
await cp(new URL("hosted/", PAGE), new URL("hosted/", BUILT), { recursive: true });
await writeFile(new URL("pairhmm.html", BUILT), page);
console.log(`built: pairhmm/web_page/pairhmm.html, ${(page.length / 1e6).toFixed(2)} MB`);
