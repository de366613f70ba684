// What every input passes when it is opened: it is not packed in a way that nothing here reads (pairhmm/files/inputs.py).

import { InputProblem } from "./problem.js";

/** @typedef {import("./sources.js").SourceFile} SourceFile */

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
