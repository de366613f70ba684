// Colours that the colour-blind can tell apart: orange against, blue for, neutral between (after ColorBrewer's PuOr).

export const darkScheme = window.matchMedia("(prefers-color-scheme: dark)");

const DIVERGING = {
  light: [
    [179, 88, 6],
    [241, 163, 64],
    [254, 224, 182],
    [243, 243, 244],
    [198, 219, 239],
    [84, 150, 204],
    [8, 72, 140],
  ],
  dark: [
    [255, 178, 92],
    [214, 124, 36],
    [120, 72, 28],
    [48, 51, 58],
    [34, 74, 112],
    [58, 132, 196],
    [138, 198, 255],
  ],
};
const SEQUENTIAL = {
  light: [
    [237, 242, 248],
    [158, 202, 225],
    [66, 146, 198],
    [8, 69, 148],
  ],
  dark: [
    [38, 46, 58],
    [34, 84, 128],
    [64, 142, 204],
    [170, 216, 255],
  ],
};
// Colours of alleles, the reference first (after Paul Tol's bright scheme). None of them is a colour of the heatmap, and
// white can be read on each.
const ALLELES = ["#6c7684", "#1a8557", "#aa3377", "#86740f", "#4f4fb0", "#228181", "#8a5a2b", "#ba5275"];

function scheme() {
  return darkScheme.matches ? "dark" : "light";
}

// Interpolates between the colours of a list. Share 0 is the first colour, and 1 the last.
function between(colours, share) {
  const place = Math.min(1, Math.max(0, share)) * (colours.length - 1);
  const index = Math.min(colours.length - 2, Math.floor(place));
  const part = place - index;
  const mixed = colours[index].map((value, channel) =>
    Math.round(value + (colours[index + 1][channel] - value) * part),
  );
  return `rgb(${mixed.join(",")})`;
}

export const diverging = (share) => between(DIVERGING[scheme()], share);
export const sequential = (share) => between(SEQUENTIAL[scheme()], share);
export const alleleColour = (allele) => (allele < 0 ? "#757575" : ALLELES[allele % ALLELES.length]);
export const themeColour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function gradient(scale) {
  const stops = Array.from({ length: 11 }, (_, index) => scale(index / 10));
  return `linear-gradient(90deg, ${stops.join(",")})`;
}
