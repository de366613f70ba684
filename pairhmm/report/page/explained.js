// Why positions are called, or not: the verdict of each, and what each step of the call decided.

import { card, make } from "./dom.js";

export function showExplained(report) {
  const cards = report.explained.map(([place, isCalled, verdict, sections]) =>
    explanationCard(`${place} is ${isCalled ? "called" : "not called"}`, verdict, sections),
  );
  return make("div", { class: "view" }, ...cards);
}

// Sections: a title and lines each.
export function explanationCard(title, verdict, sections) {
  return card(title, verdict, ...sections.map(sectionOf));
}

function sectionOf([title, lines]) {
  const text = make("pre", {}, lines.join("\n"));
  if (title) return make("details", {}, make("summary", {}, title), text);
  return lines.length ? text : null;
}
