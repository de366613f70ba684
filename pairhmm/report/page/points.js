// Points of samples on a canvas: shapes that differ without colour, and names that do not overlap.

import { themeColour } from "./colours.js";
import { formatNumber } from "./format.js";
import { hideTooltip, showTooltip, tellOnHover } from "./tooltip.js";

const LABEL_HEIGHT = 14;

const OUTLINES = {
  circle: (context, x, y, r) => context.arc(x, y, r, 0, 2 * Math.PI),
  square: (context, x, y, r) => context.rect(x - r, y - r, 2 * r, 2 * r),
  diamond: (context, x, y, r) =>
    corners(context, [x, y - 1.3 * r], [x + 1.3 * r, y], [x, y + 1.3 * r], [x - 1.3 * r, y]),
  triangle: (context, x, y, r) => corners(context, [x, y - 1.2 * r], [x + 1.2 * r, y + r], [x - 1.2 * r, y + r]),
  cross: (context, x, y, r) => {
    for (const [dx, dy] of [
      [r, r],
      [r, -r],
    ]) {
      context.moveTo(x - dx, y - dy);
      context.lineTo(x + dx, y + dy);
    }
  },
};

function corners(context, ...points) {
  points.forEach(([x, y]) => context.lineTo(x, y));
  context.closePath();
}

export function drawPoint(context, shape, x, y, radius, colour, isHollow = false) {
  context.beginPath();
  OUTLINES[shape](context, x, y, radius);
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = 1.8;
  if (isHollow || shape === "cross") context.stroke();
  else context.fill();
}

// Names beside points: right, left, above or below, where no name before it and no named point is.
// labels: [text, x, y, colour], the most important first. `size` is that of the canvas.
export function drawLabels(context, labels, [width, height]) {
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "left";
  const taken = labels.map(([, x, y]) => [x - 4, y - 4, x + 4, y + 4]);
  let drawn = 0;
  for (const [text, x, y, colour] of labels) {
    const wide = context.measureText(text).width;
    const room = [
      [x + 8, y],
      [x - 8 - wide, y],
      [x - wide / 2, y - 13],
      [x - wide / 2, y + 13],
    ].find(([left, middle]) => isFree(taken, boxOf(left, middle, wide), width, height));
    if (!room) continue;
    taken.push(boxOf(...room, wide));
    context.strokeStyle = themeColour("--card");
    context.lineWidth = 4;
    context.lineJoin = "round";
    context.strokeText(text, ...room);
    context.fillStyle = colour ?? themeColour("--ink");
    context.fillText(text, ...room);
    drawn++;
  }
  return drawn;
}

const boxOf = (left, middle, wide) => [left - 1, middle - LABEL_HEIGHT / 2, left + wide + 1, middle + LABEL_HEIGHT / 2];

function isFree(taken, [left, top, right, bottom], width, height) {
  if (left < 0 || top < 0 || right > width || bottom > height) return false;
  return taken.every((box) => right < box[0] || left > box[2] || bottom < box[1] || top > box[3]);
}

// The point nearest to a place, if it is near enough; else -1.
export function nearestPoint(points, x, y, most = 12) {
  let best = -1;
  let least = most * most;
  points.forEach(([px, py], index) => {
    const distance = (px - x) ** 2 + (py - y) ** 2;
    if (distance <= least) [best, least] = [index, distance];
  });
  return best;
}

// The next point in the direction of an arrow key: of those within 45 degrees of it, the nearest; else -1.
function nextPoint(points, from, [dx, dy]) {
  const [x, y] = points[from];
  let best = -1;
  let least = Infinity;
  points.forEach(([px, py], index) => {
    const along = (px - x) * dx + (py - y) * dy;
    const across = Math.abs((px - x) * dy) + Math.abs((py - y) * dx);
    const cost = along + 2 * across;
    if (index !== from && along > 0 && across <= along && cost < least) [best, least] = [index, cost];
  });
  return best;
}

const ARROW_STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// Rows of a tooltip, for those who do not see it.
export const spoken = (rows) => rows.map(([name, value]) => `${name} ${value}`);

// A canvas that tells of its points: of the one under the pointer, and by arrow keys of one after the other.
// points: as they lie in the canvas now; chosen: the number of the point where a key begins, or -1.
export function tellOfPoints(canvas, { points, chosen, choose, describe, reach }) {
  canvas.tabIndex = 0;
  tellOnHover(canvas, (x, y) => {
    const index = nearestPoint(points(), x, y, reach);
    return index < 0 ? null : describe(index);
  });
  canvas.addEventListener("keydown", (event) => {
    const step = ARROW_STEPS[event.key];
    if (!step || !points().length) return;
    event.preventDefault();
    const next = chosen() < 0 ? 0 : nextPoint(points(), chosen(), step);
    if (next < 0) return;
    choose(next);
    const box = canvas.getBoundingClientRect();
    showTooltip(box.left + points()[next][0], box.top + points()[next][1], describe(next));
  });
  canvas.addEventListener("blur", hideTooltip);
}

// Lines across a plot at round values, with their numbers at the left.
export function drawTicks(context, ticks, yOf, [left, right], digits) {
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const tick of ticks) {
    context.fillStyle = themeColour("--line");
    context.fillRect(left, Math.round(yOf(tick)), right - left, 1);
    context.fillStyle = themeColour("--faint");
    context.fillText(formatNumber(tick, digits), left - 8, yOf(tick));
  }
  context.textBaseline = "alphabetic";
}

// What a sample or pair with flags is drawn as: the first of these that it has.
export const FLAG_SHAPES = {
  "swap?": "diamond",
  contaminated: "triangle",
  duplicate: "square",
  "parent-child": "cross",
};

export function flagShape(flags) {
  const first = Object.keys(FLAG_SHAPES).find((flag) => flags.includes(flag));
  return first ? FLAG_SHAPES[first] : flags.length ? "square" : "circle";
}
