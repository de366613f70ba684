// Reads x haplotypes: blue where a read speaks for a haplotype, orange where it speaks against it.

import { alleleColour, diverging, inkOn, themeColour } from "./colours.js";
import { MISSING, formatNumber, plural, shortened } from "./format.js";
import { IS_ALIGNED, likelihoodOf, readChoices, readPlace } from "./panel_data.js";
import { ReadPicture } from "./read_picture.js";

export const SPAN = 2; // log10 on either side of a read's middle at which colours end
const TRACKS = { choice: 8, strand: 16, quality: 34, gap: 6 };
const HEAD = 38;

export class Heatmap extends ReadPicture {
  // alleles: of each haplotype at the site, or null; names: of what reads choose; own: the sample's haplotypes.
  constructor(panel, group, { alleles, nameOf: names, own, withNumbers }, constants) {
    super();
    Object.assign(this, { panel, group, names, own, withNumbers, constants });
    this.kindOf = alleles ?? panel.haplotypes.map((_, index) => index);
    Object.assign(this, readChoices(group, this.kindOf, constants));
    this.columns = this.kindOf.map((_, index) => index).sort((a, b) => this.kindRank(a) - this.kindRank(b) || a - b);
    const count = this.columns.length;
    this.cellWidth = Math.max(withNumbers ? 40 : 5, Math.min(80, Math.floor(380 / count)));
    this.cellHeight = withNumbers ? 14 : group.shown <= 40 ? 11 : group.shown <= 80 ? 8 : group.shown <= 140 ? 6 : 4;
    const aligned = group.flags.some((flags) => flags & IS_ALIGNED);
    this.left = TRACKS.choice + TRACKS.gap + (aligned ? TRACKS.strand + TRACKS.quality + TRACKS.gap : 0);
    this.aligned = aligned;
    const width = this.left + count * this.cellWidth + 1;
    const height = HEAD + group.shown * this.cellHeight + 1;
    const label = `Heatmap of ${plural(group.shown, "read")} and ${plural(count, "haplotype")}`;
    this.makeCanvas(width, height, `${label}; arrow keys go from cell to cell`, "heatmap");
  }

  kindRank(column) {
    return this.kinds.indexOf(this.kindOf[column]);
  }

  draw(context) {
    this.drawHead(context);
    const alignedLeft = TRACKS.choice + TRACKS.gap;
    this.choices.forEach((choice, row) => {
      const y = HEAD + row * this.cellHeight;
      const height = this.cellHeight - (this.cellHeight > 5 ? 1 : 0);
      context.fillStyle = choice.decided ? alleleColour(choice.kind) : themeColour("--line");
      context.fillRect(0, y, TRACKS.choice, this.cellHeight);
      if (this.aligned) this.drawPlace(context, choice.read, alignedLeft, y, height);
      this.drawCells(context, choice.read, y, height);
    });
    if (this.cursor) this.drawCursor(context);
  }

  drawHead(context) {
    context.textBaseline = "alphabetic";
    context.textAlign = "center";
    context.font = "11px system-ui, sans-serif";
    this.columns.forEach((column, place) => {
      const x = this.left + place * this.cellWidth;
      context.fillStyle = alleleColour(this.kindOf[column]);
      context.fillRect(x, HEAD - 6, this.cellWidth - 1, 4);
      if (this.cellWidth < 18) return;
      context.fillStyle = themeColour("--ink");
      const middle = x + this.cellWidth / 2;
      const isOwn = this.own.includes(column) ? "●" : "";
      context.fillText(isOwn + haplotypeLabel(this.panel.haplotypes[column].name), middle, 12, this.cellWidth - 3);
      context.fillStyle = themeColour("--faint");
      context.fillText(shortened(this.names(this.kindOf[column]), 10), middle, 26, this.cellWidth - 3);
    });
    if (!this.aligned) return;
    context.fillStyle = themeColour("--faint");
    const left = TRACKS.choice + TRACKS.gap;
    context.fillText("±", left + TRACKS.strand / 2, 26);
    context.fillText("MAPQ", left + TRACKS.strand + TRACKS.quality / 2, 26, TRACKS.quality);
  }

  drawPlace(context, read, left, y, height) {
    const place = readPlace(this.group, read, this.constants);
    if (place.strand === null) return;
    this.drawStrand(context, place.strand, [left + 3, left + 12], y + height / 2, Math.min(4, height / 2));
    this.drawMapping(context, place.quality, [left + TRACKS.strand, y, TRACKS.quality, height]);
  }

  drawCells(context, read, y, height) {
    const { behind, shown } = this.group;
    const values = this.columns.map((column) => behind[column * shown + read] / this.constants.perLog10);
    const middle = Math.min(Math.max(...values), 4 * SPAN) / 2;
    context.font = "11px system-ui, sans-serif";
    values.forEach((value, place) => {
      const colour = diverging(0.5 + (middle - value) / SPAN / 2);
      const gap = this.cellWidth > 8 ? 1 : 0;
      const x = this.left + place * this.cellWidth;
      context.fillStyle = colour;
      context.fillRect(x, y, this.cellWidth - gap, height);
      if (!this.withNumbers) return;
      context.fillStyle = inkOn(colour);
      const isKnown = this.group.behind[this.columns[place] * shown + read] !== this.constants.impossible;
      context.fillText(isKnown ? formatNumber(0 - value, 2) : "−∞", x + this.cellWidth / 2, y + height - 3);
    });
  }

  boxOf(row, place) {
    const { left, cellWidth, cellHeight } = this;
    return [left + place * cellWidth, HEAD + row * cellHeight, cellWidth, cellHeight];
  }

  describeAt(x, y) {
    const row = Math.floor((y - HEAD) / this.cellHeight);
    if (row < 0 || row >= this.choices.length) return null;
    const place = Math.floor((x - this.left) / this.cellWidth);
    return this.describe(row, place >= 0 && place < this.columns.length ? place : null);
  }

  describe(row, place) {
    const { read } = this.choices[row];
    const rows = this.describeRead(row);
    if (place !== null) rows.push(...this.describeCell(read, this.columns[place]));
    rows.push(["precision", readPlace(this.group, read, this.constants).precision]);
    return rows;
  }

  describeCell(read, column) {
    const value = likelihoodOf(this.group, read, column, this.constants);
    const behind = this.group.behind[column * this.group.shown + read] / this.constants.perLog10;
    return [
      ["haplotype", this.panel.haplotypes[column].name],
      ["log10 P(read | haplotype)", value === null ? "none" : value.toFixed(2)],
      ["behind the read's best", value === null ? MISSING : behind.toFixed(2)],
    ];
  }
}

// `chr1:100-250/3` is h3; a haplotype with a name of its own keeps it.
export function haplotypeLabel(name) {
  const found = /:\d+-\d+\/(\d+)$/.exec(name);
  return found ? `h${found[1]}` : name;
}
