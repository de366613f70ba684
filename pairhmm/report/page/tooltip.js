// One tooltip for the page, and its texts for canvases.

import { make } from "./dom.js";

const tooltip = document.getElementById("tooltip");

export function showTooltip(x, y, rows) {
  tooltip.replaceChildren(
    ...rows.map(([name, value]) => make("div", {}, make("span", { class: "name" }, name), make("span", {}, value))),
  );
  tooltip.hidden = false;
  const { width, height } = tooltip.getBoundingClientRect();
  const left = x + 16 + width > window.innerWidth ? x - 16 - width : x + 16;
  const top = Math.min(y + 12, window.innerHeight - height - 8);
  tooltip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
}

export function hideTooltip() {
  tooltip.hidden = true;
}

// Shows a tooltip for what lies under the pointer. `describe(x, y)`, in the canvas's own pixels, gives rows or null.
export function tellOnHover(canvas, describe) {
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const rows = describe(event.clientX - box.left, event.clientY - box.top);
    if (rows) showTooltip(event.clientX, event.clientY, rows);
    else hideTooltip();
  });
  canvas.addEventListener("pointerleave", hideTooltip);
}
