// What the page shows of a cohort's tables, and what it complains of, as JSON: node cohort_data.mjs FILE ...

import { readFile } from "node:fs/promises";
import { basename } from "node:path";

import { readCohort } from "../../web/src/page/cohort/reading.js";

const given = await Promise.all(
  process.argv
    .slice(2)
    .map(async (path) => ({ name: basename(path), data: new Blob([await readFile(path)]), size: 0 })),
);
console.log(JSON.stringify(await readCohort(given)));
