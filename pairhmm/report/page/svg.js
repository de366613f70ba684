// A picture of `makeCanvas` as SVG: what its `draw` does to a context becomes elements.

import { themeColour } from "./colours.js";

const ANCHORS = { left: "start", start: "start", center: "middle", right: "end", end: "end" };
const BASELINES = { middle: "central", alphabetic: "alphabetic", top: "hanging", bottom: "text-after-edge" };
// The page holds no address, so that everyone sees that it asks for none.
const NAMESPACE = new DOMParser().parseFromString("<svg></svg>", "text/html").querySelector("svg").namespaceURI;
const measure = document.createElement("canvas").getContext("2d");

export function svgOf(canvas) {
  const { draw, width, height } = canvas.picture;
  const context = new SvgContext();
  context.fillStyle = themeColour("--card");
  context.fillRect(0, 0, width, height);
  draw(context);
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return `<svg xmlns="${NAMESPACE}" ${size}>${context.parts.join("")}</svg>\n`;
}

const escaped = (text) => String(text).replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
const short = (number) => String(Math.round(number * 100) / 100);

// The part of CanvasRenderingContext2D that this page uses.
class SvgContext {
  constructor() {
    this.parts = [];
    this.path = [];
    this.saved = [];
    this.transform = "";
    Object.assign(this, { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, lineJoin: "miter" });
    Object.assign(this, { font: "10px sans-serif", textAlign: "start", textBaseline: "alphabetic" });
  }

  add(tag, attributes, content = "") {
    const all = { ...attributes };
    if (this.globalAlpha < 1) all.opacity = short(this.globalAlpha);
    if (this.transform) all.transform = this.transform.trim();
    const text = Object.entries(all).map(([name, value]) => ` ${name}="${escaped(value)}"`);
    this.parts.push(`<${tag}${text.join("")}${content ? `>${content}</${tag}>` : "/>"}`);
  }

  get outline() {
    return { fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth, "stroke-linejoin": this.lineJoin };
  }

  fillRect(x, y, width, height) {
    if (width <= 0 || height <= 0) return;
    this.add("rect", { x: short(x), y: short(y), width: short(width), height: short(height), fill: this.fillStyle });
  }

  strokeRect(x, y, width, height) {
    this.add("rect", { x: short(x), y: short(y), width: short(width), height: short(height), ...this.outline });
  }

  fillText(text, x, y, most) {
    this.addText(text, x, y, most, { fill: this.fillStyle });
  }

  strokeText(text, x, y, most) {
    this.addText(text, x, y, most, this.outline);
  }

  addText(text, x, y, most, colours) {
    const [, size, family] = /^(\S+) (.*)$/.exec(this.font);
    const attributes = {
      x: short(x),
      y: short(y),
      "font-size": size,
      "font-family": family,
      "text-anchor": ANCHORS[this.textAlign],
      "dominant-baseline": BASELINES[this.textBaseline],
      ...colours,
    };
    if (most && this.measureText(text).width > most) {
      Object.assign(attributes, { textLength: short(most), lengthAdjust: "spacingAndGlyphs" });
    }
    this.add("text", attributes, escaped(text));
  }

  measureText(text) {
    measure.font = this.font;
    return measure.measureText(text);
  }

  beginPath() {
    this.path = [];
  }

  moveTo(x, y) {
    this.path.push(`M${short(x)} ${short(y)}`);
  }

  lineTo(x, y) {
    this.path.push(`${this.path.length ? "L" : "M"}${short(x)} ${short(y)}`);
  }

  closePath() {
    this.path.push("Z");
  }

  rect(x, y, width, height) {
    this.path.push(`M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}Z`);
  }

  // Whole circles only.
  arc(x, y, radius) {
    const [r, d] = [short(radius), short(2 * radius)];
    this.path.push(`M${short(x - radius)} ${short(y)}a${r} ${r} 0 1 0 ${d} 0a${r} ${r} 0 1 0 -${d} 0Z`);
  }

  fill() {
    this.add("path", { d: this.path.join(""), fill: this.fillStyle });
  }

  stroke() {
    this.add("path", { d: this.path.join(""), ...this.outline });
  }

  save() {
    this.saved.push(this.transform);
  }

  restore() {
    this.transform = this.saved.pop();
  }

  translate(x, y) {
    this.transform += ` translate(${short(x)} ${short(y)})`;
  }

  rotate(angle) {
    this.transform += ` rotate(${short((angle * 180) / Math.PI)})`;
  }
}
