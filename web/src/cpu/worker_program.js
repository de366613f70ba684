// The worker's program: its module here, its text in a bundle (build.mjs puts a module of that kind in this one's place).

/** @type {{url?: URL, text?: string}} */
export const PROGRAM = { url: new URL("./worker.js", import.meta.url) };
