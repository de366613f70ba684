// Reads as bases, under the reference and the sample's own haplotypes (pairhmm/report/pileup.py). Bases that agree
// with the reference are grey, darker with their quality; others are letters on their colour, paler with less quality.

import { alleleColour, baseColour, themeColour } from "./colours.js";
import { make } from "./dom.js";
import { formatNumber, plural, shortened } from "./format.js";
import { haplotypeLabel } from "./heatmap.js";
import { readPlace } from "./panel_data.js";
import { CELL, LETTERS, PileupCells } from "./pileup_cells.js";
import { ReadPicture } from "./read_picture.js";

const SIZE = { column: 9, gap: 14, line: 15, ruler: 18, coverage: 36, group: 17, most: 100, low: 9, read: 14 };
const LEFT = { choice: 8, strand: 12, mapped: 26, label: 74 };
const LEFT_WIDTH = LEFT.label + 6;
const POOR_MAPPING = 10; // reads below it are hollow
const FULL_QUALITY = 35; // Phred at which colours are full
const FONT = "11px ui-monospace, 'DejaVu Sans Mono', Consolas, monospace";
const SMALL_FONT = FONT.replace("11px", "9px");
const TEXT = "11px system-ui, sans-serif";

export class Pileup extends ReadPicture {
  // heatmap: of the same reads, whose order and choices these are. own: indices of the sample's own haplotypes.
  constructor(panel, group, site, heatmap, own, constants) {
    super();
    const { choices, names } = heatmap;
    Object.assign(this, { panel, group, heatmap, own, constants, choices, names });
    this.bases = new PileupCells(panel, group, site.pos - 1, constants.qualityStep);
    this.columns = this.bases.columns.map((column, index) => ({
      ...column,
      x: LEFT_WIDTH + index * SIZE.column + column.window * SIZE.gap,
    }));
    this.width = (this.columns.at(-1)?.x ?? LEFT_WIDTH) + SIZE.column + 1;
    this.placeRows();
    this.firstColumn = this.bases.siteColumn;
    const label = `${plural(group.shown, "read")} as bases, under the reference; arrow keys go from base to base`;
    this.makeCanvas(this.width, this.height, label, "pileup");
  }

  // Reads come in groups: those that choose a haplotype, and those that choose none.
  placeRows() {
    const { choices } = this;
    const high = choices.length > SIZE.most ? SIZE.low : SIZE.read;
    let y = SIZE.ruler + SIZE.line * (1 + this.own.length) + SIZE.coverage + 10;
    this.readHeight = high;
    this.headings = [];
    this.rows = [];
    let last = null;
    for (const choice of choices) {
      const key = choice.decided ? choice.haplotype : "undecided";
      if (key !== last) {
        this.headings.push({ y, choice, count: 0 });
        y += SIZE.group;
        last = key;
      }
      this.headings.at(-1).count++;
      this.rows.push({ y, choice });
      y += high;
    }
    this.height = y + 4;
  }

  draw(context) {
    this.colours = Object.fromEntries(
      ["--ink", "--faint", "--line", "--read", "--mapped"].map((name) => [name, themeColour(name)]),
    );
    context.textBaseline = "middle";
    this.drawHead(context);
    this.drawCoverage(context);
    for (const heading of this.headings) this.drawHeading(context, heading);
    for (const row of this.rows) this.drawRead(context, row);
    this.drawSite(context);
    if (this.cursor) this.drawCursor(context);
  }

  // Lines beside the site's column, from top to bottom.
  drawSite(context) {
    const { x } = this.columns[this.bases.siteColumn];
    context.fillStyle = this.colours["--ink"];
    context.fillRect(x - 1, SIZE.ruler, 1, this.height - SIZE.ruler);
    context.fillRect(x + SIZE.column, SIZE.ruler, 1, this.height - SIZE.ruler);
  }

  drawHead(context) {
    context.font = TEXT;
    context.textAlign = "left";
    context.fillStyle = this.colours["--faint"];
    let free = 0;
    this.columns.forEach(({ position, inserted, x }, index) => {
      const begins = index === 0 || x > this.columns[index - 1].x + SIZE.column;
      if (inserted || x < free || !(begins || (position + 1) % 20 === 0)) return;
      context.fillText(`╷${formatNumber(position + 1)}`, x, SIZE.ruler / 2);
      free = x + 80;
    });
    this.drawLine(context, 0, "reference", ({ reference }) => reference);
    this.own.forEach((haplotype, number) => {
      const { name } = this.panel.haplotypes[haplotype];
      const label = `${haplotypeLabel(name)} (own)`;
      this.drawLine(context, number + 1, label, ({ cells, reference }) =>
        cells[haplotype] === "." ? reference : cells[haplotype],
      );
      context.fillStyle = alleleColour(this.heatmap.kindOf[haplotype]);
      context.fillRect(0, SIZE.ruler + SIZE.line * (number + 1), 4, SIZE.line - 2);
    });
  }

  drawLine(context, number, label, letterOf) {
    const y = SIZE.ruler + SIZE.line * (number + 0.5);
    context.font = TEXT;
    context.textAlign = "left";
    context.fillStyle = this.colours["--ink"];
    context.fillText(shortened(label, 13), 8, y, LEFT_WIDTH - 10);
    for (const column of this.columns) {
      const letter = letterOf(column);
      const differs = number > 0 && letter !== column.reference;
      this.drawBase(context, letter, column.x, y - SIZE.line / 2, SIZE.line, { differs, strength: 1 });
    }
  }

  drawBase(context, letter, x, y, high, { differs, strength, clipped }) {
    const middle = y + high / 2;
    if (differs && !clipped && letter !== "-") {
      context.globalAlpha = strength;
      context.fillStyle = baseColour(letter);
      context.fillRect(x, y, SIZE.column, high - 1);
      context.globalAlpha = 1;
    }
    if (letter === "-") {
      context.fillStyle = this.colours["--ink"];
      context.fillRect(x, middle - 1, SIZE.column, 1.5);
      return;
    }
    context.font = high < 11 ? SMALL_FONT : FONT;
    context.textAlign = "center";
    context.fillStyle = differs && !clipped && strength > 0.55 ? "#fff" : this.colours["--ink"];
    context.fillText(clipped ? letter.toLowerCase() : letter, x + SIZE.column / 2, middle);
  }

  drawCoverage(context) {
    const top = SIZE.ruler + SIZE.line * (1 + this.own.length) + 4;
    const most = Math.max(1, ...this.bases.coverage.map((counts) => counts.reduce((a, b) => a + b, 0)));
    const scale = (SIZE.coverage - 4) / most;
    context.font = TEXT;
    context.textAlign = "left";
    context.fillStyle = this.colours["--faint"];
    context.fillText(`to ${most} reads`, 8, top + SIZE.coverage / 2, LEFT_WIDTH - 10);
    this.columns.forEach(({ reference, inserted, x }, column) => {
      if (inserted) return;
      let y = top + SIZE.coverage - 2;
      const counts = this.bases.coverage[column].map((count, index) => [count, LETTERS[index]]);
      for (const [count, letter] of counts.sort((a, b) => (a[1] !== reference) - (b[1] !== reference))) {
        context.fillStyle = letter === reference ? this.colours["--mapped"] : baseColour(letter);
        y -= count * scale;
        context.fillRect(x, y, SIZE.column - 1, count * scale);
      }
    });
  }

  drawHeading(context, { y, choice, count }) {
    const { kind, haplotype, decided } = choice;
    const named = haplotypeLabel(this.panel.haplotypes[haplotype].name);
    const isOwn = this.own.includes(haplotype) ? ", own" : "";
    const text = decided
      ? `${named} (${shortened(this.names(kind), 14)}${isOwn}): ${plural(count, "read")}`
      : `undecided: ${plural(count, "read")}`;
    context.fillStyle = this.colours["--line"];
    context.fillRect(0, y + SIZE.group - 2, this.width, 1);
    context.font = TEXT;
    context.textAlign = "left";
    context.fillStyle = this.colours["--ink"];
    context.fillText(text, LEFT.choice + 4, y + SIZE.group / 2);
  }

  drawRead(context, { y, choice }) {
    const high = this.readHeight;
    context.fillStyle = choice.decided ? alleleColour(choice.kind) : this.colours["--line"];
    context.fillRect(0, y, LEFT.choice - 2, high - 1);
    const { strand, quality } = readPlace(this.group, choice.read, this.constants);
    if (strand !== null) this.drawPlace(context, strand, quality, y, high);
    const isPoor = quality !== null && quality < POOR_MAPPING;
    this.columns.forEach((column, index) => {
      const { cell, quality: own, isGap } = this.bases.cellAt(choice.read, index);
      if (cell === CELL.nothing) return;
      if (cell === CELL.deleted || cell === CELL.skipped) {
        context.fillStyle = this.colours[isGap ? "--line" : "--ink"];
        context.fillRect(column.x, y + high / 2 - 1, SIZE.column, isGap ? 1 : 1.5);
        return;
      }
      const clipped = cell >= CELL.clipped;
      const letter = LETTERS[(clipped ? cell - CELL.clipped : cell) - 1];
      const strength = Math.min(1, Math.max(0.2, own / FULL_QUALITY));
      if (letter === column.reference && !clipped) this.drawAgreeing(context, column.x, y, high, strength, isPoor);
      else this.drawBase(context, letter, column.x, y, high, { differs: true, strength, clipped });
    });
    this.drawInsertions(context, choice.read, y, high);
  }

  drawAgreeing(context, x, y, high, strength, isPoor) {
    context.globalAlpha = strength;
    context.fillStyle = this.colours["--read"];
    if (isPoor) {
      context.fillRect(x, y, SIZE.column, 1);
      context.fillRect(x, y + high - 2, SIZE.column, 1);
    } else context.fillRect(x, y, SIZE.column, high - 1);
    context.globalAlpha = 1;
  }

  // A bar where a read has bases for which the haplotypes have no columns.
  drawInsertions(context, read, y, high) {
    context.fillStyle = this.colours["--ink"];
    this.columns.forEach(({ packed, inserted, x }, index) => {
      if (packed < 0 || inserted || this.columns[index + 1]?.inserted) return;
      if (this.bases.insertedAt(read, packed)) context.fillRect(x + SIZE.column - 1.5, y - 1, 3, high + 1);
    });
  }

  drawPlace(context, strand, quality, y, high) {
    const left = LEFT.choice + 2;
    this.drawStrand(context, strand, [left, left + 8], y + high / 2 - 0.5, 4);
    this.drawMapping(context, quality, [left + LEFT.strand + 2, y + 1, LEFT.mapped, high - 3]);
    if (high < 11) return;
    context.font = TEXT;
    context.textAlign = "right";
    context.fillStyle = this.colours["--ink"];
    context.fillText(String(quality), LEFT_WIDTH - 8, y + high / 2);
  }

  boxOf(row, column) {
    return [this.columns[column].x - 1, this.rows[row].y, SIZE.column + 3, this.readHeight];
  }

  columnAt(x) {
    const column = this.columns.findIndex((one) => x >= one.x && x < one.x + SIZE.column);
    return column < 0 ? null : column;
  }

  describeAt(x, y) {
    const row = this.rows.findIndex((one) => y >= one.y && y < one.y + this.readHeight);
    const column = this.columnAt(x);
    if (row >= 0) return this.describe(row, column);
    const head = SIZE.ruler + SIZE.line * (1 + this.own.length);
    return column !== null && y > head && y < head + SIZE.coverage + 6 ? this.bases.describeCounts(column) : null;
  }

  describe(row, column) {
    const base = column === null ? [] : this.bases.describeBase(this.choices[row].read, column);
    return [...this.describeRead(row), ...base];
  }
}

// The pileup in a box that scrolls, with the site in its middle.
export function pileupView(pileup) {
  const box = make("div", { class: "wide piled" }, pileup.canvas);
  requestAnimationFrame(() => {
    box.scrollLeft = pileup.columns[pileup.bases.siteColumn].x - box.clientWidth / 2;
  });
  return box;
}
