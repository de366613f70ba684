// Blocks of the reference as lines of a gVCF, in the form of GATK's (cpu/calling/records.cpp).

import { MAX_GQ } from "../genomics/genotypes.js";
import { GQ_BANDS } from "../genomics/reference_confidence.js";
import { roundHalfEven } from "../models/gatk.js";

/** @typedef {import("../genomics/reference_confidence.js").ReferenceBlock} ReferenceBlock */

/** The allele that stands for every allele but those of a record. */
export const NON_REF = "<NON_REF>";

/** The header lines that only a gVCF has. */
export function gvcfHeader() {
  const edges = [0, ...GQ_BANDS, MAX_GQ + 1];
  const bands = edges.slice(1).map((last, index) => {
    const first = edges[index];
    return `##GVCFBlock${first}-${last}=minGQ=${first}(inclusive),maxGQ=${last}(exclusive)`;
  });
  return [
    ...bands,
    '##ALT=<ID=NON_REF,Description="Any allele that is not the reference and not among those of the record">',
    '##INFO=<ID=END,Number=1,Type=Integer,Description="Last position of the block">',
    '##FORMAT=<ID=MIN_DP,Number=1,Type=Integer,Description="Lowest DP of the block">',
  ];
}

/** Joins blocks that continue each other, and makes lines. */
export class BlockLines {
  /** @type {ReferenceBlock | null} */
  #held = null;

  /** The lines of blocks that are whole. @param {ReferenceBlock[]} blocks */
  of(blocks) {
    let text = "";
    for (const block of blocks) {
      const held = this.#held;
      if (held && continues(held, block)) this.#held = joined(held, block);
      else {
        text += this.rest();
        this.#held = block;
      }
    }
    return text;
  }

  /** The line of the last block. */
  rest() {
    const text = this.#held ? blockLine(this.#held) : "";
    this.#held = null;
    return text;
  }
}

/** @param {ReferenceBlock} one @param {ReferenceBlock} other */
function continues(one, other) {
  return one.chrom === other.chrom && one.end === other.start && one.ploidy === other.ploidy && one.band === other.band;
}

/** @param {ReferenceBlock} one @param {ReferenceBlock} other @returns {ReferenceBlock} */
function joined(one, other) {
  return {
    ...one,
    end: other.end,
    quality: Math.min(one.quality, other.quality),
    depth: one.depth + other.depth,
    leastDepth: Math.min(one.leastDepth, other.leastDepth),
    one: Math.min(one.one, other.one),
    both: Math.min(one.both, other.both),
  };
}

/** A block as a line of VCF. DP is the mean, and everything else the lowest. Equal likelihoods make no genotype. @param {ReferenceBlock} block */
function blockLine({ chrom, start, end, base, ploidy, quality, depth, leastDepth, one, both }) {
  const likelihoods = ploidy === 1 ? [0, both] : [0, one, both];
  const genotype = new Array(ploidy).fill(likelihoods.some(Boolean) ? "0" : ".").join("/");
  const sample = [genotype, roundHalfEven(depth / (end - start)), quality, leastDepth, likelihoods.join()].join(":");
  const record = [chrom, start + 1, ".", base, NON_REF, ".", ".", `END=${end}`, "GT:DP:GQ:MIN_DP:PL", sample];
  return `${record.join("\t")}\n`;
}
