// A chart of curves on logarithmic axes, as SVG, with its numbers as a table.

/** @typedef {{name: string, points: [number, number][]}} Curve */

const WIDTH = 640;
const HEIGHT = 340;
const LEFT = 64;
const BOTTOM = 44;
const TOP = 14;
const RIGHT = 34;
const COLORS = ["#0b6bcb", "#c2410c", "#15803d", "#a21caf", "#b8860b", "#64748b", "#be123c"];
const SVG = "http://www.w3.org/2000/svg";

/** @param {string} name @param {Record<string, string | number>} attributes @param {string} [text] */
function shape(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

/**
 * @param {Curve[]} curves
 * @param {{title: string, x: string, y: string}} options
 * @returns {SVGElement}
 */
export function chart(curves, { title, x, y }) {
  const points = curves.flatMap((curve) => curve.points);
  const scaleX = scale(
    points.map((point) => point[0]),
    LEFT,
    WIDTH - RIGHT,
  );
  const scaleY = scale(
    points.map((point) => point[1]),
    HEIGHT - BOTTOM,
    TOP,
  );
  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title, class: "curves" });
  for (const at of scaleX.ticks) {
    svg.append(shape("text", { x: scaleX.of(at), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, short(at)));
  }
  for (const at of scaleY.ticks) {
    const own = scaleY.of(at);
    svg.append(shape("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: own, y2: own, class: "grid" }));
    svg.append(shape("text", { x: LEFT - 8, y: own + 4, "text-anchor": "end" }, short(at)));
  }
  svg.append(shape("text", { x: (LEFT + WIDTH) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, x));
  svg.append(
    shape("text", { x: 14, y: HEIGHT / 2, transform: `rotate(-90 14 ${HEIGHT / 2})`, "text-anchor": "middle" }, y),
  );
  curves.forEach((curve, index) => {
    const stroke = COLORS[index % COLORS.length];
    const at = curve.points.map(([own, value]) => `${scaleX.of(own)},${scaleY.of(value)}`);
    svg.append(shape("polyline", { points: at.join(" "), fill: "none", stroke, "stroke-width": 2 }));
    for (const place of at) {
      const [cx, cy] = place.split(",");
      svg.append(shape("circle", { cx, cy, r: 3.5, fill: stroke }));
    }
  });
  return svg;
}

/** Names of curves with their colours. @param {Curve[]} curves */
export function legend(curves) {
  const list = document.createElement("ul");
  list.className = "legend";
  curves.forEach((curve, index) => {
    const item = document.createElement("li");
    const mark = document.createElement("span");
    mark.style.background = COLORS[index % COLORS.length];
    item.append(mark, curve.name);
    list.append(item);
  });
  return list;
}

/**
 * Powers of ten around values, and where they lie.
 *
 * @param {number[]} values above zero
 * @param {number} first
 * @param {number} last
 */
function scale(values, first, last) {
  const low = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9));
  const of = (/** @type {number} */ value) => first + ((Math.log10(value) - low) / (high - low)) * (last - first);
  return { of, ticks: Array.from({ length: high - low + 1 }, (_, step) => 10 ** (low + step)) };
}

/** @param {number} value a power of ten */
function short(value) {
  if (value >= 1e6) return `${value / 1e6} M`;
  return value >= 1 ? value.toLocaleString("en") : String(Number(value.toPrecision(1)));
}
