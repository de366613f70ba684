// Bundles: the module for Node and browsers in dist/. `bundled` makes one of any entry, for pages too.
//
//     node build.mjs    # `make web-module` does it, after the files of build/web

import { execFile } from "node:child_process";
import { copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { build } from "esbuild";

const HERE = new URL(".", import.meta.url);
const BUILT = new URL("../build/web/", HERE);
const DIST = new URL("dist/", HERE);
const OWN_FILES = ["pairhmm.wasm", "gpu.json"];

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

/** The module, in dist/: one program, its files and its types. */
async function buildModule() {
  await rm(DIST, { recursive: true, force: true });
  await mkdir(DIST);
  await writeFile(new URL("index.js", DIST), await bundled(fileURLToPath(new URL("src/index.js", HERE))));
  for (const name of OWN_FILES) await copyFile(new URL(name, BUILT), new URL(name, DIST));
  await copyFile(new URL("../LICENSE", HERE), new URL("LICENSE", HERE));
  await promisify(execFile)(fileURLToPath(new URL("node_modules/.bin/tsc", HERE)), ["-p", "tsconfig.build.json"], {
    cwd: HERE,
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildModule();
