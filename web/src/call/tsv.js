// Likelihoods as the text of tables (pairhmm/likelihoods/writer.py, cpu/formats/likelihood_lines.cpp).

/** @typedef {import("./events.js").RegionEvent} RegionEvent */

const COLUMNS = ["sample", "chrom", "start", "end", "read_name", "mate", "haplotype", "log10_likelihood", "precision"];
const HAPLOTYPE_COLUMNS = ["chrom", "start", "end", "haplotype", "sequence", "alleles", "variants", "nuisance"];
const PRECISIONS = ["float32", "float64", "scaled float32"]; // as in pairhmm/models/batch.py

/** The lines above a table. Tables of GATK's model do not name it. @param {string} model */
export function tsvHeader(model) {
  return `${model === "gatk" ? "" : `##pairhmmModel=${model}\n`}#${COLUMNS.join("\t")}\n`;
}

/** The lines of a region: read by read, a line for each haplotype. @param {RegionEvent} event @param {string[]} samples */
export function tsvLines({ region, haplotypes, reads, log10, precision }, samples) {
  const place = `${region.chrom}\t${region.start}\t${region.end}`;
  let text = "";
  let pair = 0;
  for (const { sample, name, mate } of reads) {
    const head = `${samples[sample]}\t${place}\t${name}\t${mate}\t`;
    for (const haplotype of haplotypes) {
      text += `${head}${haplotype.name}\t${scoreText(log10[pair])}\t${PRECISIONS[precision[pair]]}\n`;
      pair++;
    }
  }
  return text;
}

/** @param {number} score */
function scoreText(score) {
  return Number.isFinite(score) ? score.toFixed(6) : score === -Infinity ? "-inf" : Number.isNaN(score) ? "nan" : "inf";
}

/** The line above a table's companion, which describes the haplotypes. */
export function haplotypesHeader() {
  return `#${HAPLOTYPE_COLUMNS.join("\t")}\n`;
}

/** The lines of a region's haplotypes. @param {RegionEvent} event */
export function haplotypeLines({ region, variants, haplotypes }) {
  const shown = variants.map(({ pos, ref, alts }) => `${pos + 1}:${ref}>${alts.join("/")}`).join() || ".";
  return haplotypes
    .map(({ name, sequence, alleles, nuisance }) => {
      const columns = [
        region.chrom,
        region.start,
        region.end,
        name,
        sequence,
        alleles.join() || ".",
        shown,
        Number(nuisance),
      ];
      return `${columns.join("\t")}\n`;
    })
    .join("");
}
