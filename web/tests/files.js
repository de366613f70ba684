// What tests read: the built module.

import { readFile } from "node:fs/promises";

const WASM = new URL("../../build/web/pairhmm.wasm", import.meta.url);

/** Our C++ as WebAssembly (`make build/web/pairhmm.wasm`). */
export async function readWasm() {
  return WebAssembly.compile(await readFile(WASM));
}
