// Why positions are called, or not: the verdict of each, and what each step of the call decided.

import { card, make } from "./dom.js";

export function showExplained(report) {
  return make("div", { class: "view" }, ...report.explained.map(explanationCard));
}

function explanationCard([place, isCalled, verdict, sections]) {
  return card(`${place} is ${isCalled ? "called" : "not called"}`, verdict, ...sections.map(sectionOf));
}

function sectionOf([title, lines]) {
  const text = make("pre", {}, lines.join("\n"));
  if (title) return make("details", {}, make("summary", {}, title), text);
  return lines.length ? text : null;
}
