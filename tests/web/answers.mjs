// Answers of web/src/genomics to questions of tests: node answers.mjs QUESTIONS, a JSON list of [function, arguments].
import { readFile } from "node:fs/promises";

import { buildHaplotypes } from "../../web/src/genomics/haplotypes.js";
import { joinedSnvs } from "../../web/src/genomics/neighbouring_sites.js";
import { RegionBuilder } from "../../web/src/genomics/regions.js";

const fetchOf = (genome) => async (_, start, end) => genome.slice(Math.max(0, start), end);

const FUNCTIONS = {
  regions: async (genome, variants, options) => {
    const builder = new RegionBuilder(fetchOf(genome), new Map([["q", genome.length]]), options);
    const regions = [];
    for (const variant of variants) regions.push(...(await builder.push(variant)));
    return [...regions, ...builder.finish()];
  },
  haplotypes: (region, reference, limit, shown) => {
    const carried = (part) => {
      const columns = part.variants.map((variant) => shown[variant.pos]);
      return Int16Array.from(columns[0].flatMap((_, read) => columns.map((column) => column[read])));
    };
    const found = buildHaplotypes(region, reference, limit, carried);
    return found.map(({ sequence, alleles, isNuisance }) => [sequence, alleles, isNuisance]);
  },
  snvs: (variants, alleles) => {
    const { variant, alleleOf, changed } = joinedSnvs(variants, alleles);
    return [variant.ref, variant.alts, alleleOf, [...changed]];
  },
};

const answers = [];
for (const [name, given] of JSON.parse(await readFile(process.argv[2], "utf8"))) {
  answers.push(await FUNCTIONS[name](...given));
}
console.log(JSON.stringify(answers));
