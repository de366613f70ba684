// The card that explains a position: what reads show there, and what discovery makes of it.

import { announce, explanationCard } from "./components.js";
import { element } from "./status.js";

/** @import { Explanation } from "../call/explain.js" */

const CANDIDATE = "An allele there is a candidate: its genotypes decide whether it is called.";

export class Explaining {
  /** @param {(position: string) => void} onAsk */
  constructor(onAsk) {
    this.input = /** @type {HTMLInputElement} */ (element("position"));
    element("ask").addEventListener("submit", (event) => {
      event.preventDefault();
      onAsk(this.input.value.trim());
    });
    for (const kind of ["click", "keyup"]) element("results").addEventListener(kind, () => this.#follow());
  }

  /** Takes the site that is chosen in the list, which the address names. */
  #follow() {
    const found = /^#site=(.+)$/.exec(decodeURIComponent(location.hash));
    if (found) this.input.value = found[1];
  }

  /** @param {boolean} isPossible whether the files are here */
  become(isPossible) {
    element("explain").hidden = !isPossible;
    if (!isPossible) this.clear();
  }

  clear() {
    element("explanation").replaceChildren();
  }

  /** @param {Explanation} explanation */
  show({ place, reason, sections }) {
    const told = reason ? `No candidate: ${reason}.` : CANDIDATE;
    const card = explanationCard(place, told, sections);
    for (const section of card.querySelectorAll("details")) section.open = true;
    element("explanation").replaceChildren(card);
    card.scrollIntoView({ block: "nearest" });
    announce(`${place}: ${told}`);
  }
}
