// The bases of reads at the columns of a pileup (pairhmm/report/pileup.py), by read and column.

import { alignColumns, columnWindows } from "./alignment.js";
import { formatNumber, shortened } from "./format.js";

export const LETTERS = ["A", "C", "G", "T", "N"];
export const CELL = { nothing: 0, deleted: 7, skipped: 8, clipped: 16 };

export class PileupCells {
  // sitePosition: 0-based, of the column that is always shown.
  constructor(panel, group, sitePosition, qualityStep) {
    Object.assign(this, { group, qualityStep });
    this.columns = placedColumns(panel, sitePosition);
    this.siteColumn = Math.max(
      0,
      this.columns.findIndex((one) => !one.inserted && one.position === sitePosition),
    );
    this.insertions = new Map(
      group.insertions.map(([read, column, bases, quality]) => [`${read} ${column}`, { bases, quality }]),
    );
    this.coverage = this.columns.map((_, column) => this.countsAt(column));
  }

  // The bases that a read has behind a packed column.
  insertedAt(read, packed) {
    return this.insertions.get(`${read} ${packed}`);
  }

  cellAt(read, column) {
    const { packed, inserted } = this.columns[column];
    if (packed < 0) return { cell: CELL.nothing, quality: 0 };
    const at = packed * this.group.shown + read;
    if (!inserted) return { cell: this.group.cells[at], quality: this.group.cellQualities[at] };
    const found = this.insertedAt(read, packed);
    if (found?.bases[inserted - 1]) {
      return { cell: 1 + LETTERS.indexOf(found.bases[inserted - 1]), quality: found.quality };
    }
    const before = this.group.cells[at];
    return { cell: before && before < CELL.clipped ? CELL.deleted : CELL.nothing, quality: 0, isGap: true };
  }

  // How many reads have each base at a column; soft-clipped ones do not count.
  countsAt(column) {
    const counts = LETTERS.map(() => 0);
    for (let read = 0; read < this.group.shown; read++) {
      const { cell } = this.cellAt(read, column);
      if (cell > CELL.nothing && cell < CELL.deleted) counts[cell - 1]++;
    }
    return counts;
  }

  // Rows for a tooltip.
  describeCounts(column) {
    const { position, reference, inserted } = this.columns[column];
    if (inserted) return null;
    const counts = this.coverage[column];
    const total = counts.reduce((a, b) => a + b, 0);
    const rows = [
      ["position", formatNumber(position + 1)],
      ["reference", reference],
      ["reads", formatNumber(total)],
    ];
    counts.forEach((count, index) => count && rows.push([LETTERS[index], formatNumber(count)]));
    return rows;
  }

  describeBase(read, column) {
    const { position, reference, packed, inserted } = this.columns[column];
    const { cell, quality, isGap } = this.cellAt(read, column);
    const place = inserted ? `behind ${formatNumber(position + 1)}` : formatNumber(position + 1);
    const rows = [["position", place]];
    if (cell === CELL.nothing || isGap) return [...rows, ["base", "none"]];
    if (cell === CELL.deleted || cell === CELL.skipped) {
      return [...rows, ["base", cell === CELL.deleted ? "deleted" : "skipped"]];
    }
    const clipped = cell >= CELL.clipped;
    const letter = LETTERS[(clipped ? cell - CELL.clipped : cell) - 1];
    const step = letter === reference && !clipped ? this.qualityStep : 1;
    const range = step > 1 ? `${quality} to ${quality + step - 1}` : String(quality);
    rows.push(
      ["base", `${letter}${clipped ? ", soft-clipped" : ""} (reference ${reference})`],
      ["base quality", range],
    );
    const found = this.insertedAt(read, packed);
    if (found) rows.push(["inserted behind it", shortened(found.bases, 40)]);
    return rows;
  }
}

// Columns of the alignment near differences. Each has its window's number, and its index among the packed columns; an
// inserted one has that of the column before.
function placedColumns(panel, sitePosition) {
  const packed = new Map();
  for (const [first, count] of panel.columns) {
    for (let offset = 0; offset < count; offset++) packed.set(first + offset, packed.size);
  }
  return columnWindows(alignColumns(panel), sitePosition).flatMap((columns, window) => {
    let inserted = 0;
    return columns.map(({ position, reference, cells }) => {
      inserted = reference === "-" ? inserted + 1 : 0;
      return { position, reference, cells, window, inserted, packed: packed.get(position) ?? -1 };
    });
  });
}
