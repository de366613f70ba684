// Elements. Text from files is only ever set as text, never as markup.

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// A part of a view, with its title and what is told of it.
export function card(title, told, ...children) {
  const lines = [make("h2", {}, title), told ? make("p", { class: "told" }, told) : null];
  return make("section", { class: "card" }, ...lines, ...children);
}

// A line at the top that says whether something is wrong.
export function banner(label, isRaised, ...children) {
  return make(
    "section",
    { class: isRaised ? "card flags raised" : "card flags", "aria-label": label },
    make("span", { class: "sign", "aria-hidden": "true" }, isRaised ? "!" : "✓"),
    ...children,
  );
}

// The sign of a colour, before what it stands for.
export function mark(colour) {
  const sign = make("i", { class: "mark" });
  sign.style.background = colour;
  return sign;
}

export function announce(text) {
  document.getElementById("announcer").textContent = text;
}

// The width of a plot that fills its card, up to the widest.
export const plotWidth = (widest, least = 280) =>
  Math.min(widest, Math.max(least, document.getElementById("main").clientWidth - 90));

// A canvas drawn at the screen's own resolution; `draw` gets a context in CSS pixels.
export function makeCanvas(width, height, label, draw) {
  const canvas = make("canvas", { role: "img", "aria-label": label });
  const redraw = () => {
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    draw(context);
  };
  redraw();
  canvas.redraw = redraw;
  canvas.picture = { draw, width, height };
  return canvas;
}

// Draws all pictures again: the colours are others.
export function redrawAll() {
  document.querySelectorAll("canvas, .gradient, .hit, .histogram").forEach((one) => one.redraw?.());
}
