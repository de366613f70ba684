// The map of samples: as it was drawn, recomputed by sliders, and beside it the exact scaling.

import { blendedPlaces, sharesOf, weightedPlaces } from "./blending.js";
import { themeColour } from "./colours.js";
import { NOTHING_ALIKE } from "./distances.js";
import { announce, card, make, makeCanvas, plotWidth } from "./dom.js";
import { pictureTools } from "./export.js";
import { MISSING, formatNumber, plural } from "./format.js";
import { FLAG_SHAPES, drawLabels, drawPoint, flagShape, nearestPoint, spoken, tellOfPoints } from "./points.js";

const MAP_SIDE = 560; // CSS pixels at most
const MAP_MARGIN = 26;
const MOST_NAMES = 2000; // beyond it only names of flagged samples are tried
const SAME_PLACE = 1e-3; // of the map's width

// report: {map, checks}; `map` has the columns of the table of positions (pairhmm/report/map.py).
export function mapPanel(report) {
  return report.map.places ? new MapPanel(report).element : card("Map of samples", `${NOTHING_ALIKE}.`);
}

class MapPanel {
  constructor({ map, checks }) {
    this.map = map;
    const flagsOf = new Map((checks ?? []).map((row) => [row[0], row.at(-1).split(",").filter(Boolean)]));
    this.flags = map.samples.map((name) => flagsOf.get(name) ?? []);
    this.places = map.places;
    this.selected = -1;
    this.build();
    this.tellWhere();
  }

  build() {
    const { map } = this;
    const { map: trust, exact: exactTrust } = map.trustworthiness;
    this.drawn = this.plot("Map", trust, () => this.places);
    this.plots = [this.drawn];
    if (map.exact) this.plots.push(this.plot("Exact scaling", exactTrust, () => map.exact));
    if (trust !== null && exactTrust > trust) this.plots.reverse();
    this.where = make("p", { class: "told", "aria-live": "polite" });
    this.chosen = make("p", { class: "chosen" }, "Point at a sample, or go from one to the next with the arrow keys.");
    this.element = card(
      "Map of samples",
      this.told(),
      make("div", { class: "plots" }, ...this.plots.map(({ figure }) => figure)),
      this.flagLegend(),
      this.chosen,
      this.finder(),
      map.groups.length ? this.sliders() : null,
      this.where,
    );
    this.element.classList.add("map");
  }

  told() {
    const { exact } = this.map;
    const beside = exact
      ? "Exact scaling puts samples by their distances alone, as well as two dimensions can. The picture that can be" +
        " trusted more comes first."
      : "The table has no exact scaling.";
    return (
      "Alike samples lie close together: properties are sketched, projected to the plane at random and blended with" +
      ` neighbours. ${beside} Trustworthiness says how many of a sample's neighbours on the picture are neighbours in` +
      " truth: 1 is all of them, and 0.5 is about chance."
    );
  }

  plot(title, trust, placesOf) {
    const plot = { placesOf, points: [] };
    const size = plotWidth(MAP_SIDE, 260);
    const label = `${title} of ${plural(this.map.samples.length, "sample")}. Arrow keys go from one to the next.`;
    plot.canvas = makeCanvas(size, size, label, (context) => this.draw(context, plot, size));
    plot.canvas.classList.add("choosable");
    plot.canvas.addEventListener("click", (event) =>
      this.select(nearestPoint(plot.points, event.offsetX, event.offsetY)),
    );
    plot.canvas.addEventListener("keydown", ({ key }) => key === "Escape" && this.select(-1));
    tellOfPoints(plot.canvas, {
      points: () => plot.points,
      chosen: () => this.selected,
      choose: (sample) => this.select(sample),
      describe: (sample) => this.describe(sample),
    });
    plot.trust = make("span", { class: "told" }, trustText(trust));
    plot.figure = make(
      "figure",
      {},
      make("figcaption", {}, make("b", {}, title), " ", plot.trust),
      plot.canvas,
      pictureTools(plot.canvas, title),
    );
    return plot;
  }

  draw(context, plot, size) {
    const places = plot.placesOf();
    plot.points = fitted(places, size);
    context.strokeStyle = themeColour("--line");
    context.lineWidth = 1;
    context.strokeRect(0.5, 0.5, size - 1, size - 1);
    if (this.selected >= 0) this.drawNeighbours(context, plot.points);
    const order = this.flags.map((_, sample) => sample).sort((a, b) => this.flags[a].length - this.flags[b].length);
    for (const sample of order) {
      const [x, y] = plot.points[sample];
      const isFlagged = this.flags[sample].length > 0;
      const colour = themeColour(isFlagged ? "--warn" : "--accent");
      drawPoint(context, flagShape(this.flags[sample]), x, y, isFlagged ? 6 : 4, colour);
      if (sample === this.selected) drawPoint(context, "circle", x, y, 10, themeColour("--ink"), true);
    }
    const named = order.reverse().filter((sample) => this.flags[sample].length || order.length <= MOST_NAMES);
    named.sort((a, b) => (b === this.selected) - (a === this.selected));
    drawLabels(
      context,
      named.map((sample) => [
        this.map.samples[sample],
        ...plot.points[sample],
        this.flags[sample].length ? themeColour("--warn") : themeColour("--ink"),
      ]),
      [size, size],
    );
  }

  drawNeighbours(context, points) {
    context.strokeStyle = themeColour("--faint");
    context.lineWidth = 1;
    for (const other of this.neighboursOf(this.selected)) {
      context.beginPath();
      context.moveTo(...points[this.selected]);
      context.lineTo(...points[other]);
      context.stroke();
    }
  }

  neighboursOf(sample) {
    const { neighbours, offsets } = this.map;
    return neighbours.slice(offsets[sample], offsets[sample + 1]);
  }

  describe(sample) {
    const names = this.neighboursOf(sample).map((other) => this.map.samples[other]);
    const rows = [["sample", this.map.samples[sample]]];
    if (this.flags[sample].length) rows.push(["flags", this.flags[sample].join(", ")]);
    rows.push(["neighbours", names.join(", ") || "none"]);
    rows.push(["place", this.places[sample].map((value) => formatNumber(value, 3)).join(", ")]);
    return rows;
  }

  select(sample) {
    this.selected = sample;
    this.redraw();
    if (sample < 0) return;
    const text = spoken(this.describe(sample)).join(" · ");
    this.chosen.textContent = text;
    announce(text);
  }

  finder() {
    const input = make("input", {
      type: "search",
      placeholder: "find a sample",
      "aria-label": "Find a sample on the map",
      spellcheck: "false",
      oninput: () => {
        const wanted = input.value.trim().toLowerCase();
        this.select(wanted ? this.map.samples.findIndex((name) => name.toLowerCase().includes(wanted)) : -1);
        input.classList.toggle("wrong", Boolean(wanted) && this.selected < 0);
      },
    });
    return make("div", { class: "filterline" }, input);
  }

  flagLegend() {
    const own = Object.keys(FLAG_SHAPES).filter((flag) =>
      this.flags.some((flags) => flagShape(flags) === FLAG_SHAPES[flag]),
    );
    if (!own.length) return null;
    return shapeLegend([["circle", "--accent", "no flag"], ...own.map((flag) => [FLAG_SHAPES[flag], "--warn", flag])]);
  }

  sliders() {
    const { map } = this;
    this.weights = map.groups.map((name, number) => this.slider(`weight of ${name}`, map.weights[number]));
    this.alpha = this.slider("alpha: share of the neighbours", map.alpha);
    const reset = make(
      "button",
      { type: "button", class: "plainbutton", onclick: () => this.reset() },
      "As it was drawn",
    );
    return make(
      "fieldset",
      { class: "sliders" },
      make("legend", {}, "Recompute the map"),
      ...[...this.weights, this.alpha].map(({ label }) => label),
      reset,
    );
  }

  slider(name, value) {
    const shown = make("output", {}, formatNumber(value, 2));
    const input = make("input", { type: "range", min: 0, max: 1, step: 0.01, value, oninput: () => this.recompute() });
    return { input, shown, value, label: make("label", {}, make("span", {}, name), input, shown) };
  }

  reset() {
    for (const { input, value } of [...this.weights, this.alpha]) input.value = value;
    this.showShares(sharesOf(this.weights.map(({ value }) => value)));
    this.places = this.map.places;
    this.redraw();
    this.tellWhere();
    this.drawn.trust.textContent = trustText(this.map.trustworthiness.map);
  }

  showShares(shares) {
    this.weights.forEach(({ shown }, number) => (shown.textContent = shares ? formatNumber(shares[number], 2) : "0"));
    this.alpha.shown.textContent = formatNumber(Number(this.alpha.input.value), 2);
  }

  recompute() {
    const shares = sharesOf(this.weights.map(({ input }) => Number(input.value)));
    const alpha = Number(this.alpha.input.value);
    this.showShares(shares);
    if (!shares) {
      this.where.textContent = "All weights are 0: the map stays as it is.";
      return;
    }
    const { map } = this;
    const flat = blendedPlaces(weightedPlaces(map.projections, shares), map, alpha, map.passes);
    this.places = map.samples.map((_, sample) => [flat[2 * sample], flat[2 * sample + 1]]);
    this.redraw();
    this.tellWhere();
    this.drawn.trust.textContent = "recomputed; the trustworthiness is not known";
  }

  tellWhere() {
    if (!this.map.groups.length) {
      this.where.textContent = "The table has no projections of groups, so the map can't be recomputed here.";
      return;
    }
    this.where.textContent = this.differs()
      ? "The sliders do not give the positions of the table, even as it was drawn."
      : "";
  }

  // Whether the settings of the table lead elsewhere than its positions: it may have been cut or changed.
  differs() {
    const { map } = this;
    const shares = sharesOf(map.weights);
    if (!shares) return true;
    const flat = blendedPlaces(weightedPlaces(map.projections, shares), map, map.alpha, map.passes);
    const width = Math.max(...extentOf(map.places)) || 1;
    return map.places.some((place, sample) =>
      place.some((value, axis) => Math.abs(value - flat[2 * sample + axis]) > SAME_PLACE * width),
    );
  }

  redraw() {
    for (const { canvas } of this.plots) canvas.redraw();
  }
}

const trustText = (trust) => `trustworthiness ${trust === null ? MISSING : formatNumber(trust, 3)}`;

function boundsOf(places) {
  const bounds = [Infinity, -Infinity, Infinity, -Infinity];
  for (const place of places) {
    if (!place) continue;
    place.forEach((value, axis) => {
      bounds[2 * axis] = Math.min(bounds[2 * axis], value);
      bounds[2 * axis + 1] = Math.max(bounds[2 * axis + 1], value);
    });
  }
  return bounds;
}

function extentOf(places) {
  const [left, right, low, high] = boundsOf(places);
  return [right - left, high - low];
}

// Places in pixels, both axes on one scale. What has no place lies outside.
function fitted(places, size) {
  const [left, right, low, high] = boundsOf(places);
  const span = Math.max(right - left, high - low) || 1;
  const scale = (size - 2 * MAP_MARGIN) / span;
  const middle = size / 2;
  return places.map((place) =>
    place
      ? [middle + (place[0] - (left + right) / 2) * scale, middle - (place[1] - (low + high) / 2) * scale]
      : [-99, -99],
  );
}

// Shapes and what they are, on a line. rows: [shape, colour's name, text, isHollow].
export function shapeLegend(rows) {
  return make(
    "div",
    { class: "legend shapes" },
    ...rows.map(([shape, colour, text, isHollow]) =>
      make(
        "span",
        {},
        hidden(
          makeCanvas(16, 16, "", (context) => drawPoint(context, shape, 8, 8, 4.5, themeColour(colour), isHollow)),
        ),
        text,
      ),
    ),
  );
}

function hidden(canvas) {
  canvas.removeAttribute("role");
  canvas.removeAttribute("aria-label");
  canvas.setAttribute("aria-hidden", "true");
  return canvas;
}
