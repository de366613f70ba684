// Answers of web/src/genomics to questions of tests: node answers.mjs QUESTIONS, a JSON list of [function, arguments].
import { readFile } from "node:fs/promises";

import { offsets } from "../../web/src/genomics/arrays.js";
import { genotypeTable, log10Priors } from "../../web/src/genomics/genotypes.js";
import { buildHaplotypes } from "../../web/src/genomics/haplotypes.js";
import { Names } from "../../web/src/genomics/names.js";
import { RegionBuilder, shiftLeft, trimAllele, variantExtent } from "../../web/src/genomics/regions.js";

const fetchOf = (genome) => async (_, start, end) => genome.slice(Math.max(0, start), end);

const FUNCTIONS = {
  trimAllele,
  shiftLeft,
  genotypeTable,
  extent: (genome, variant) => variantExtent(variant, fetchOf(genome)),
  priors: (priors, ploidy) => [...log10Priors(priors, genotypeTable(priors.length + 1, ploidy))],
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
  checksums: (names) => {
    const texts = names.map((name) => new TextEncoder().encode(name));
    const packed = new Names(
      Uint8Array.from(texts.flatMap((text) => [...text])),
      offsets(texts.map((text) => text.length)),
    );
    return names.map((_, index) => packed.checksum(index));
  },
};

const answers = [];
for (const [name, given] of JSON.parse(await readFile(process.argv[2], "utf8"))) {
  answers.push(await FUNCTIONS[name](...given));
}
console.log(JSON.stringify(answers));
