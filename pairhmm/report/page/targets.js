// Coverage of targets: tiles of the first screen, and the list of targets with their gaps.

import { card } from "./dom.js";
import { formatNumber, percentOf, plural } from "./format.js";
import { DataTable, figures } from "./table.js";

const ID = "targets";

// What tiles are made of. Of several samples, those of the worst.
export function targetTiles({ targets }) {
  if (!targets) return [];
  const { least, count, worst, gaps, samples } = targets;
  const follow = () => document.getElementById(ID).scrollIntoView();
  const of = samples > 1 ? `, the worst of ${formatNumber(samples)} samples` : "";
  const share = `of the bases of targets have a depth of ${formatNumber(least)} or more${of}`;
  const told = `of ${plural(count, "target")} ${gaps === 1 ? "has" : "have"} bases below it${of}`;
  return [
    [`${formatNumber(Math.floor(percentOf(worst) * 100) / 100, 2)} %`, share, { follow, raised: worst < 1 }],
    [formatNumber(gaps), told, { follow, raised: gaps > 0 }],
  ];
}

export function targetsCard({ targets, samples }) {
  const { rows, least, of } = targets;
  const gapsOf = (index) => gapText(rows[index]);
  const columns = [
    { title: "Target", value: (index) => rows[index][0] || placeOf(rows[index]) },
    { title: "Place", value: (index) => placeOf(rows[index]) },
    { title: "Sample", value: (index) => samples[rows[index][4]] },
    figures("Bases", (index) => rows[index][3] - rows[index][2]),
    figures("Depth", (index) => rows[index][5], { told: "Mean depth", digits: 1 }),
    figures("Lowest", (index) => rows[index][6], { told: "Lowest depth of a base" }),
    {
      ...figures(`≥ ${least}x %`, (index) => percentOf(rows[index][7]), {
        told: `Bases with a depth of ${least} or more`,
      }),
      text: (index) => formatNumber(Math.floor(percentOf(rows[index][7]) * 100) / 100, 2),
    },
    { title: "Gaps", told: `Places of a depth below ${least}`, value: gapsOf },
  ];
  const table = new DataTable(columns, {
    label: "targets",
    noun: "row",
    count: rows.length,
    hint: "filter: a gene, lowest<10, chr1:1-9,000 …",
    placeOf: (index) => [rows[index][1], rows[index][2] + 1],
    rowClass: (index) => (rows[index][9] ? "failed" : null),
  });
  const told =
    `The lowest coverage first${rows.length < of ? `, ${formatNumber(rows.length)} of ${formatNumber(of)}` : ""}. Depth` +
    " counts molecules: mates that overlap count once. Reads below mapping quality 20, duplicates and bases below quality" +
    " 10 do not count.";
  const element = card("Coverage of targets", told, table.element);
  element.id = ID;
  return element;
}

const placeOf = ([, chrom, start, end]) =>
  `${chrom}:${formatNumber(start + 1)}${end - start > 1 ? `-${formatNumber(end)}` : ""}`;

function gapText([, chrom, , , , , , , gaps, count]) {
  const told = gaps.map(([start, end]) => placeOf([, chrom, start, end]));
  return [...told, ...(count > gaps.length ? [`and ${formatNumber(count - gaps.length)} more`] : [])].join(" ");
}
