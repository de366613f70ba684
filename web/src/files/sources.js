// Files of a run: Blobs, bytes, or addresses that are read by range requests.

import { BlobFile, RemoteFile } from "generic-filehandle2";
import { InputProblem } from "./problem.js";

/** @typedef {Blob | string} Source a string is an address */

/** A file that is read piece by piece, and reports what fails by its name. */
export class SourceFile {
  /** @param {string} name for messages @param {Source} source */
  constructor(name, source) {
    this.name = name;
    this.isRemote = typeof source === "string";
    this.handle = typeof source === "string" ? new RemoteFile(source) : new BlobFile(source);
    /** @type {Promise<number> | undefined} */
    this.sized = undefined;
  }

  /** Bytes of the file. @returns {Promise<number>} */
  size() {
    this.sized ??= this.#told(async () => (await this.handle.stat()).size);
    return this.sized;
  }

  /**
   * The bytes from a position on, fewer at the file's end.
   *
   * @param {number} position
   * @param {number} length
   * @returns {Promise<Uint8Array>}
   */
  async read(position, length) {
    const most = Math.min(length, (await this.size()) - position);
    return most <= 0 ? new Uint8Array(0) : this.#told(() => this.handle.read(most, position));
  }

  /** @returns {Promise<Uint8Array>} */
  whole() {
    return this.#told(() => this.handle.readFile());
  }

  /** @template Result @param {() => Promise<Result>} act @returns {Promise<Result>} */
  async #told(act) {
    try {
      return await act();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new InputProblem(this.name, "", `can't be read: ${why}`, "check the file or its address");
    }
  }
}

const HEAD_SIZE = 10;
// Programs that pack files as nothing here reads them: name, command that unpacks, and first bytes (magic.py there).
const OTHER_PACKERS = /** @type {const} */ ([
  ["xz", "xz -d", /^\xfd7zXZ\0/],
  ["zstd", "zstd -d", /^\x28\xb5\x2f\xfd/],
  ["bzip2", "bzip2 -d", /^BZh[1-9](?:1AY&SY|\x17rE8P\x90)/],
]);

/** Requires first bytes that are not those of xz, zstd or bzip2. @param {SourceFile} file @throws {InputProblem} */
export async function checkPacking(file) {
  const head = String.fromCharCode(...(await file.read(0, HEAD_SIZE)));
  for (const [packer, unpack, begins] of OTHER_PACKERS) {
    if (begins.test(head)) {
      const cure = `unpack it (${unpack}); text may be packed with gzip or bgzip instead`;
      throw new InputProblem(file.name, "", `is packed by ${packer}, which is not read`, cure);
    }
  }
}
