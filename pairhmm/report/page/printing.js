// On paper: colours of the light scheme, one page for each site, and what all was made from.

import { make, redrawAll } from "./dom.js";
import { siteArticle } from "./panel.js";
import { colophon, runningLine } from "./provenance.js";

const PAPER = { width: 700, height: 960 }; // CSS pixels that A4 and Letter have within their margins
const LEAST_ZOOM = 30; // percent
export const MOST_SITES_PRINTED = 100;

// Makes what is on the screen ready for paper, and ready for the screen again. `about()`: title, version, and `cards` of
// what it was made from.
export function preparePrinting(about) {
  let end = null;
  window.addEventListener("beforeprint", () => {
    setPaper(true);
    document.documentElement.style.setProperty("--running", cssText(runningLine(about())));
    end = colophon(about());
    document.body.append(end);
    for (const holder of document.querySelectorAll(".holder")) {
      // Measured as it will be on paper.
      holder.classList.add("onpaper");
      holder.style.cssText = `flex: none; width: ${PAPER.width}px; height: 0`;
      if (holder.firstElementChild) fit(holder.firstElementChild);
      holder.style.cssText = "";
    }
  });
  window.addEventListener("afterprint", () => {
    setPaper(false);
    end?.remove();
    for (const holder of document.querySelectorAll(".holder")) holder.classList.remove("onpaper");
    for (const article of document.querySelectorAll(".holder > *")) article.style.zoom = "";
  });
}

const cssText = (text) => `"${text.replace(/\s+/g, " ").replace(/["\\]/g, "\\$&")}"`;

function setPaper(isPaper) {
  document.documentElement.classList.toggle("paper", isPaper);
  redrawAll();
}

// Makes an element so small that its page holds it. The smaller it is, the more fits side by side. The pictures of three
// samples and more are smaller, so that the text need not be.
function fit(element) {
  const drawn = [...element.querySelectorAll(".pileup")].filter((canvas) => canvas.checkVisibility());
  element.style.setProperty("--samples", Math.max(1, drawn.length));
  for (let zoom = 100; zoom >= LEAST_ZOOM; zoom -= 5) {
    element.style.zoom = zoom / 100;
    if (element.parentElement.scrollHeight <= PAPER.height) return;
  }
}

// Prints the panels of some sites, each on a page of its own. While they are made, no others are.
export async function printSites(report, sites) {
  if (document.querySelector(".sheets")) return;
  const sheets = make("div", { class: "sheets onpaper" });
  const done = () => {
    sheets.remove();
    document.documentElement.classList.remove("printing-sheets");
  };
  sheets.style.width = `${PAPER.width}px`;
  document.body.append(sheets);
  setPaper(true);
  try {
    for (const site of sites.slice(0, MOST_SITES_PRINTED)) {
      const article = await siteArticle(report, site);
      sheets.append(make("div", { class: "sheet" }, article));
      fit(article);
    }
  } catch (error) {
    done();
    setPaper(false);
    throw error;
  }
  document.documentElement.classList.add("printing-sheets");
  window.addEventListener("afterprint", done, { once: true });
  window.print();
}
