// A picture of reads, one a row, that tells of its cells: under the pointer, and under a cursor that arrow keys move.

import { themeColour } from "./colours.js";
import { announce, makeCanvas } from "./dom.js";
import { formatNumber } from "./format.js";
import { readPlace } from "./panel_data.js";
import { spoken } from "./points.js";
import { hideTooltip, showTooltip, tellOnHover } from "./tooltip.js";

const MAX_MAPPING_QUALITY = 60;
const STEPS = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }; // rows, columns

// A subclass has `group`, `constants`, `choices` (of its rows), `names` and `columns`, and the functions draw(context),
// describeAt(x, y), describe(row, column) and boxOf(row, column): the left, top, width and height of a cell.
export class ReadPicture {
  constructor() {
    this.cursor = null;
    this.firstColumn = 0; // where the cursor begins
  }

  makeCanvas(width, height, label, kind) {
    this.canvas = makeCanvas(width, height, label, (context) => this.draw(context));
    this.canvas.className = kind;
    this.canvas.tabIndex = 0;
    tellOnHover(this.canvas, (x, y) => this.describeAt(x, y));
    this.canvas.addEventListener("keydown", (event) => this.onKey(event));
    this.canvas.addEventListener("blur", () => this.moveCursor(null));
  }

  describeRead(row) {
    const { read, kind, margin, decided } = this.choices[row];
    const { name, strand, quality } = readPlace(this.group, read, this.constants);
    return [
      ["read", name],
      ["strand", strand ?? "not in the alignments given"],
      ...(quality === null ? [] : [["mapping quality", String(quality)]]),
      ["chooses", decided ? `${this.names(kind)}, by ${formatNumber(margin, 2)} log10` : "nothing"],
    ];
  }

  // A triangle that points along the strand, between two places.
  drawStrand(context, strand, [left, right], middle, half) {
    const [from, to] = strand === "+" ? [left, right] : [right, left];
    context.fillStyle = themeColour(strand === "+" ? "--forward" : "--reverse");
    context.beginPath();
    context.moveTo(from, middle - half);
    context.lineTo(to, middle);
    context.lineTo(from, middle + half);
    context.fill();
  }

  drawMapping(context, quality, [x, y, width, height]) {
    context.fillStyle = themeColour("--sunken");
    context.fillRect(x, y, width, height);
    context.fillStyle = themeColour("--mapped");
    context.fillRect(x, y, width * Math.min(1, quality / MAX_MAPPING_QUALITY), height);
  }

  drawCursor(context) {
    const [x, y, width, height] = this.boxOf(...this.cursor);
    context.strokeStyle = themeColour("--ink");
    context.lineWidth = 2;
    context.strokeRect(x, y - 1, width - 1, height + 1);
  }

  onKey(event) {
    const step = STEPS[event.key];
    if (!step || !this.choices.length) return;
    event.preventDefault();
    const [row, column] = this.cursor ?? [-step[0], this.firstColumn - step[1]];
    const inside = (value, count) => Math.min(count - 1, Math.max(0, value));
    this.moveCursor([inside(row + step[0], this.choices.length), inside(column + step[1], this.columns.length)]);
  }

  moveCursor(cursor) {
    this.cursor = cursor;
    this.canvas.redraw();
    if (!cursor) return hideTooltip();
    const told = this.describe(...cursor);
    const box = this.canvas.getBoundingClientRect();
    const [x, y, width] = this.boxOf(...cursor);
    showTooltip(box.left + x + width, box.top + y, told);
    announce(spoken(told).join(", "));
  }
}
