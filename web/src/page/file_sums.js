// What tells a file from others: its size and a checksum, as pairhmm/report/file_sums.py has them.

import { formatNumber } from "./components.js";

/** @import { Given, Slot } from "./files.js" */
/** @typedef {[what: string, name: string, size: number | null, sha256: string, of: string]} FileRow */

const MOST_SUMMED = 100e6; // bytes of the largest file whose checksum is of all of it
const HEAD = 1e6; // bytes at the beginning of a larger one without an index

/** @param {[Slot, Given, Given | undefined][]} files each with its index @returns {Promise<FileRow[]>} */
export const fileRows = (files) => Promise.all(files.map(rowOf));

/** Of a file that can't be read, the run says why. @param {[Slot, Given, Given | undefined]} file @returns {Promise<FileRow>} */
async function rowOf([slot, { name, data, size }, index]) {
  const sum = await sumOf(data, index).catch(() => /** @type {[string, string]} */ (["", ""]));
  return [slot, name, size, ...sum];
}

/**
 * SHA-256, and what it is of if it is not the file. Both are empty for addresses, and where a browser has no checksums.
 *
 * @param {Blob | string} data @param {Given | undefined} index @returns {Promise<[string, string]>}
 */
async function sumOf(data, index) {
  if (typeof data === "string" || !crypto.subtle) return ["", ""];
  if (data.size <= MOST_SUMMED) return [await sha256(data), ""];
  if (index && typeof index.data !== "string" && index.data.size <= MOST_SUMMED)
    return [await sha256(index.data), `its index ${index.name}`];
  return [await sha256(data.slice(0, HEAD)), `its first ${formatNumber(HEAD)} bytes`];
}

/** @param {Blob} data */
async function sha256(data) {
  const sum = await crypto.subtle.digest("SHA-256", await data.arrayBuffer());
  return Array.from(new Uint8Array(sum), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
