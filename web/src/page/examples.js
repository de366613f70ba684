// The example that `pairhmm page --data` bakes in: files as base64 of raw deflate.

import { unpack } from "./components.js";

/** @import { Given } from "./files.js" */

export const hasExample = () => document.querySelector("script.example") !== null;

/** @returns {Promise<Given[]>} */
export async function exampleFiles() {
  const parts = Array.from(document.querySelectorAll("script.example"));
  return Promise.all(
    parts.map(async (part) => {
      const data = new Blob([await unpack(part.textContent ?? "")]);
      return { name: /** @type {HTMLElement} */ (part).dataset.name ?? "", data, size: data.size };
    }),
  );
}
