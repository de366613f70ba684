// The text of run_worker.js with all that it imports. build_page.mjs puts it here.

/** @type {{text: string}} */
export const PROGRAM = { text: "" };
