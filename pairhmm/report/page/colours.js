// Colours that the colour-blind can tell apart: orange against, blue for. From one end to the other they become darker
// on paper, and brighter on a dark screen, so that prints in grey say the same.

export const darkScheme = window.matchMedia("(prefers-color-scheme: dark)");

const DIVERGING = {
  light: ["#ffe2aa", "#fad6a0", "#f0d6b4", "#d6d9de", "#9ebcdc", "#4886c0", "#084284"],
  dark: ["#623208", "#704016", "#705034", "#686c74", "#7098c0", "#8abef0", "#ceeaff"],
};
const SEQUENTIAL = {
  light: ["#edf2f8", "#9ecae1", "#4292c6", "#084594"],
  dark: ["#262e3a", "#225480", "#408ecc", "#aad8ff"],
};
// Colours of alleles, the reference first (after Paul Tol's bright scheme). None of them is a colour of the heatmap, and
// white can be read on each.
const ALLELES = ["#6c7684", "#1a8557", "#aa3377", "#86740f", "#4f4fb0", "#228181", "#8a5a2b", "#ba5275"];

function scheme() {
  return darkScheme.matches && !document.documentElement.classList.contains("paper") ? "dark" : "light";
}

const channelsOf = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

// Interpolates between the colours of a list. Share 0 is the first colour, and 1 the last.
function between(colours, share) {
  const place = Math.min(1, Math.max(0, share)) * (colours.length - 1);
  const index = Math.min(colours.length - 2, Math.floor(place));
  const part = place - index;
  const [from, to] = [channelsOf(colours[index]), channelsOf(colours[index + 1])];
  const mixed = from.map((value, channel) => Math.round(value + (to[channel] - value) * part));
  return `rgb(${mixed.join(",")})`;
}

export const diverging = (share) => between(DIVERGING[scheme()], share);
export const sequential = (share) => between(SEQUENTIAL[scheme()], share);
export const alleleColour = (allele) => (allele < 0 ? "#757575" : ALLELES[allele % ALLELES.length]);
const BASES = { A: "#00795a", C: "#0072b2", G: "#9c6200", T: "#c04a00" };
export const baseColour = (letter) => BASES[letter] ?? "#6b7480";
// Black or white, whichever can be read on a colour such as rgb(1,2,3).
export function inkOn(colour) {
  const [red, green, blue] = colour.match(/\d+/g).map(Number);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#111" : "#fff";
}
export const themeColour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function gradient(scale) {
  const stops = Array.from({ length: 11 }, (_, index) => scale(index / 10));
  return `linear-gradient(90deg, ${stops.join(",")})`;
}
