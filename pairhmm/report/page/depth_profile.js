// The depth along a signature, from end to end.

import { themeColour } from "./colours.js";
import { make } from "./dom.js";
import { formatNumber, percentOf } from "./format.js";

// depths: means of equal parts. `kind` is a class, which has the size on the screen.
export function depthProfile(name, { depths, breadth }, kind, [width, height]) {
  const most = Math.max(...depths);
  const label = `Depth along ${name}: up to ${formatNumber(most, 1)}, ${formatNumber(percentOf(breadth), 1)} % covered`;
  const canvas = make("canvas", { class: kind, role: "img", "aria-label": label, title: label });
  [canvas.width, canvas.height] = [width, height];
  canvas.redraw = () => drawDepths(canvas, depths, most);
  canvas.redraw();
  return canvas;
}

// Where nothing covers a signature, the ground shows. The least depth can be seen.
function drawDepths(canvas, depths, most) {
  const { width, height } = canvas;
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, width, height);
  context.fillStyle = themeColour("--sunken");
  context.fillRect(0, 0, width, height);
  context.fillStyle = themeColour("--accent");
  const wide = width / depths.length;
  depths.forEach((depth, part) => {
    const high = depth ? Math.max(2, (depth / most) * height) : 0;
    context.fillRect(part * wide, height - high, wide + 0.5, high);
  });
}
