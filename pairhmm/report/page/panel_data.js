// A panel's bytes (pairhmm/report/panels.py): the length of a JSON header, the header, then for each sample the best
// of each read (int32), how far each haplotype lies behind it (uint16, haplotype after haplotype), flags and mapping
// qualities (uint8). With `columns`, the cells of the pileup and their qualities follow (uint8, column after column).

const MATE = 0x3;
export const IS_ALIGNED = 0x4;
const IS_REVERSE = 0x8;
const PRECISION_SHIFT = 4;

export function readPanel(bytes) {
  const length = new DataView(bytes).getUint32(0, true);
  const panel = JSON.parse(new TextDecoder().decode(bytes.slice(4, 4 + length)));
  let place = 4 + length;
  const take = (kind, count) => {
    const end = place + count * kind.BYTES_PER_ELEMENT;
    const taken = new kind(bytes.slice(place, end));
    place = end;
    return taken;
  };
  const width = panel.columns?.reduce((sum, [, count]) => sum + count, 0) ?? 0;
  for (const group of panel.groups) {
    group.names = group.names.split("\n");
    group.best = take(Int32Array, group.shown);
    group.behind = take(Uint16Array, group.shown * panel.haplotypes.length);
    group.flags = take(Uint8Array, group.shown);
    group.quality = take(Uint8Array, group.shown);
    group.cells = take(Uint8Array, group.shown * width);
    group.cellQualities = take(Uint8Array, group.shown * width);
  }
  return panel;
}

// What each read chooses: one of the site's alleles, or of the haplotypes where the site is no variant of the region.
// As the genotypes have it, an allele is as likely as the likeliest haplotype that carries it. Reads come in order of
// their allele, of its likeliest haplotype, and of how clear the choice is; the undecided come last.
export function readChoices(group, alleles, constants) {
  const kinds = [...new Set(alleles)].sort((a, b) => (a < 0) - (b < 0) || a - b);
  const choices = [];
  for (let read = 0; read < group.shown; read++) {
    const behind = kinds.map((kind) =>
      Math.min(...alleles.map((own, column) => (own === kind ? group.behind[column * group.shown + read] : Infinity))),
    );
    const best = behind.indexOf(Math.min(...behind));
    const next = Math.min(...behind.filter((_, index) => index !== best));
    const haplotype = alleles.findIndex(
      (own, column) => own === kinds[best] && group.behind[column * group.shown + read] === behind[best],
    );
    const margin = kinds.length > 1 ? (next - behind[best]) / constants.perLog10 : 0;
    choices.push({ read, kind: kinds[best], haplotype, margin, decided: margin > constants.informative });
  }
  const rank = (choice) => (choice.decided ? kinds.indexOf(choice.kind) : kinds.length);
  choices.sort((a, b) => rank(a) - rank(b) || a.haplotype - b.haplotype || b.margin - a.margin || a.read - b.read);
  return { kinds, choices };
}

export function readPlace(group, read, constants) {
  const flags = group.flags[read];
  const mate = flags & MATE;
  return {
    name: mate ? `${group.names[read]}/${mate}` : group.names[read],
    strand: flags & IS_ALIGNED ? (flags & IS_REVERSE ? "−" : "+") : null,
    quality: flags & IS_ALIGNED ? group.quality[read] : null,
    precision: constants.precisions[flags >> PRECISION_SHIFT],
  };
}

// log10 P(read | haplotype), or null where the table has none or the haplotype is impossible.
export function likelihoodOf(group, read, column, constants) {
  const behind = group.behind[column * group.shown + read];
  if (group.best[read] === constants.unknownBest || behind === constants.impossible) return null;
  return (group.best[read] - behind) / constants.perLog10;
}

// The haplotypes that a sample has by its genotype at the site: of those that carry its alleles, the ones that explain
// its reads best, in the order of the genotype. With two copies, a read may come from either.
export function ownHaplotypes(group, alleles, genotype, constants) {
  const copies = genotype.split(/[/|]/).map(Number);
  if (!alleles || copies.some(Number.isNaN)) return [];
  const carriers = copies.map((copy) => alleles.flatMap((allele, index) => (allele === copy ? [index] : [])));
  if (carriers.some((own) => own.length === 0)) return [];
  const likely = alleles.map((_, column) => likelihoodsOf(group, column, constants));
  if (copies.length !== 2) {
    return [...new Set(carriers.map((own) => bestBy(own, (haplotype) => sumOfLogs(likely[haplotype]))))];
  }
  const pairs = carriers[0].flatMap((one) => carriers[1].map((other) => [one, other]));
  const mixed = ([one, other]) => sumOfLogs(likely[one].map((value, read) => (value + likely[other][read]) / 2));
  return [...new Set(bestBy(pairs, mixed))];
}

// P(read | haplotype) of each read, in units of its best.
function likelihoodsOf({ behind, shown }, column, { perLog10 }) {
  return Array.from({ length: shown }, (_, read) => 10 ** (-behind[column * shown + read] / perLog10));
}

const sumOfLogs = (values) => values.reduce((sum, value) => sum + Math.log10(Math.max(value, 1e-300)), 0);

function bestBy(items, score) {
  const scores = items.map(score);
  return items[scores.indexOf(Math.max(...scores))];
}
