// Bundles: the module for Node and browsers in dist/. `bundled` makes one of any entry, for pages too.
//
//     node build.mjs    # after `make build/web/pairhmm.wasm`

import { copyFile, mkdir, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const HERE = new URL(".", import.meta.url);
const WASM = new URL("../build/web/pairhmm.wasm", HERE);
const DIST = new URL("dist/", HERE);

/** @type {import("esbuild").BuildOptions} */
const COMMON = {
  bundle: true,
  write: false,
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  logLevel: "error",
};

/**
 * A program and all that it imports, as one text. Workers start from a text within it.
 *
 * @param {string} entry path of a module
 * @param {import("esbuild").BuildOptions} [options] such as `minify`, or `format: "iife"` for a script in a page
 * @returns {Promise<string>}
 */
export async function bundled(entry, options = {}) {
  const all = { ...COMMON, format: /** @type {const} */ ("esm"), ...options };
  const result = await build({
    ...all,
    entryPoints: [entry],
    plugins: [workerAsText(all), ...(options.plugins ?? [])],
  });
  return result.outputFiles?.[0].text ?? "";
}

/**
 * The worker's text in place of its module (src/cpu/worker_program.js).
 *
 * @param {import("esbuild").BuildOptions} options
 * @returns {import("esbuild").Plugin}
 */
function workerAsText({ minify }) {
  const worker = fileURLToPath(new URL("src/cpu/worker.js", HERE));
  return {
    name: "worker as text",
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]cpu[\\/]worker_program\.js$/ }, async () => {
        const { outputFiles } = await build({ ...COMMON, minify, format: "iife", entryPoints: [worker] });
        return { contents: `export const PROGRAM = { text: ${JSON.stringify(outputFiles?.[0].text)} };` };
      });
    },
  };
}
