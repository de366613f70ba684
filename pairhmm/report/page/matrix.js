// A matrix of coloured cells, and the legend of its colours.

import { gradient, themeColour } from "./colours.js";
import { make, makeCanvas } from "./dom.js";
import { shortened } from "./format.js";
import { tellOnHover } from "./tooltip.js";

export function legend(scale, low, high) {
  const bar = make("span", { class: "gradient" });
  bar.redraw = () => (bar.style.background = gradient(scale));
  bar.redraw();
  return make("div", { class: "legend" }, low, bar, high);
}

// A matrix of coloured cells with names at its left and top. `cell`, in pixels, makes cells square.
export function matrixCanvas({ label, rows, columns, value, colour, describe, onChoose, cell: square }) {
  const side = square ?? Math.max(5, Math.min(34, Math.floor(1100 / Math.max(1, columns.length))));
  const high = square ?? Math.max(9, Math.min(28, Math.floor(700 / Math.max(1, rows.length))));
  const showsNames = side >= 11;
  const left = high < 9 ? 4 : Math.min(180, 20 + 7 * Math.max(4, ...rows.map((name) => Math.min(24, name.length))));
  const top = showsNames ? Math.min(130, 16 + 6 * Math.max(...columns.map((name) => Math.min(20, name.length)))) : 8;
  const gap = side > 4 ? 1 : 0;
  const draw = (context) => {
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = themeColour("--ink");
    context.textBaseline = "middle";
    context.textAlign = "right";
    rows.forEach((name, row) => {
      if (high >= 9) context.fillText(shortened(name, 24), left - 6, top + (row + 0.5) * high, left - 8);
    });
    context.textAlign = "left";
    columns.forEach((name, column) => {
      if (!showsNames) return;
      context.save();
      context.translate(left + (column + 0.5) * side, top - 5);
      context.rotate(-Math.PI / 2);
      context.fillText(shortened(name, 20), 0, 0, top - 6);
      context.restore();
    });
    rows.forEach((_, row) =>
      columns.forEach((__, column) => {
        const cell = value(row, column);
        context.fillStyle = cell === null || cell === undefined ? themeColour("--sunken") : colour(cell);
        context.fillRect(left + column * side, top + row * high, side - gap, high - gap);
      }),
    );
  };
  const canvas = makeCanvas(left + columns.length * side, top + rows.length * high, label, draw);
  canvas.rowPlaces = { top, high };
  const cellAt = (x, y) => {
    const column = Math.floor((x - left) / side);
    const row = Math.floor((y - top) / high);
    return rows[row] !== undefined && columns[column] !== undefined && column >= 0 ? [row, column] : null;
  };
  tellOnHover(canvas, (x, y) => {
    const cell = cellAt(x, y);
    return cell && describe(...cell, value(...cell) ?? null);
  });
  if (onChoose) {
    canvas.classList.add("choosable");
    canvas.addEventListener("click", (event) => {
      const cell = cellAt(event.offsetX, event.offsetY);
      if (cell) onChoose(...cell);
    });
  }
  return canvas;
}
