// Tabs. Each is built when it is first opened.

import { showCohort } from "./cohort.js";
import { darkScheme } from "./colours.js";
import { loadReport, panelBytes } from "./data.js";
import { distancePanels } from "./distances.js";
import { make, redrawAll } from "./dom.js";
import { showExplained } from "./explained.js";
import { showFit } from "./fit.js";
import { formatNumber } from "./format.js";
import { mapPanel } from "./map.js";
import { showMixtures } from "./mixtures.js";
import { readPanel } from "./panel_data.js";
import { preparePrinting } from "./printing.js";
import { callsCard, filesCard } from "./provenance.js";
import { showRelate } from "./relate.js";
import { showRun } from "./run.js";
import { showScan } from "./scan.js";
import { showSites, siteOfAddress } from "./sites.js";
import { hideTooltip } from "./tooltip.js";

function tabsOf(report) {
  return [
    {
      id: "cohort",
      title: "Samples",
      show: showCohort,
      has: report.inputs.some(([what]) => what !== "fit" && what !== "explanations"),
      count: report.samples.length,
    },
    { id: "mixtures", title: "Mixture", show: showMixtures, has: report.mixtures !== null },
    { id: "sites", title: "Sites", show: showSites, has: report.sites.pos.length > 0, count: report.sites.pos.length },
    {
      id: "relate",
      title: "Relatedness",
      show: showRelate,
      has: report.flags !== null,
      count: report.pairs?.standing,
    },
    { id: "map", title: "Map", show: showMap, has: report.map !== null || report.distances !== null },
    { id: "scan", title: "Scan", show: showScan, has: report.scan !== null, count: report.scan?.hits },
    {
      id: "explained",
      title: "Explained",
      show: showExplained,
      has: report.explained?.length > 0,
      count: report.explained?.length,
    },
    { id: "fit", title: "Fit", show: showFit, has: report.fit !== null },
    { id: "run", title: "Run", show: showRun, has: true },
  ].filter((tab) => tab.has);
}

function showMap(report) {
  const parts = [report.map ? mapPanel(report) : null, ...(report.distances ? distancePanels(report) : [])];
  return make("div", { class: "view" }, ...parts);
}

function openTab(report, tabs, chosen) {
  for (const tab of tabs) {
    const isChosen = tab === chosen;
    tab.button.setAttribute("aria-selected", isChosen);
    tab.button.tabIndex = isChosen ? 0 : -1;
    if (isChosen && !tab.view) {
      tab.view = make("section", { role: "tabpanel", id: `tab-${tab.id}`, "aria-labelledby": `button-${tab.id}` });
      document.getElementById("main").append(tab.view);
      tab.content = tab.show(report);
      tab.view.append(tab.content);
    }
    if (tab.view) tab.view.hidden = !isChosen;
  }
  hideTooltip();
}

function makeTabs(report) {
  const tabs = tabsOf(report);
  const bar = document.getElementById("tabs");
  for (const tab of tabs) {
    tab.button = make(
      "button",
      {
        type: "button",
        role: "tab",
        id: `button-${tab.id}`,
        "aria-controls": `tab-${tab.id}`,
        onclick: () => openTab(report, tabs, tab),
      },
      tab.title,
      tab.count === undefined ? null : make("span", { class: "count" }, formatNumber(tab.count)),
    );
    bar.append(tab.button);
  }
  bar.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const place = tabs.findIndex((tab) => tab.button === document.activeElement);
    const next = tabs[(place + step + tabs.length) % tabs.length];
    next.button.focus();
    openTab(report, tabs, next);
  });
  return tabs;
}

// What a print ends with. The last part of the report has it already.
function aboutOf({ title, version, inputs, provenance }, tabs) {
  const isThere = tabs.find(({ id }) => id === "run").button.getAttribute("aria-selected") === "true";
  return { title, version, cards: isThere ? [] : [filesCard(inputs), callsCard(provenance)] };
}

function showNotes(notes) {
  const list = document.getElementById("notes");
  list.append(...notes.map((note) => make("li", {}, note)));
  list.hidden = notes.length === 0;
}

// Boxes that scroll can be focused, so that arrow keys scroll them. Those that do not scroll are no stop of the Tab key.
function focusScrollers(root) {
  let isDue = false;
  const check = () => {
    isDue = false;
    for (const box of root.querySelectorAll(".wide")) {
      const scrolls = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
      if (scrolls) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  const ask = () => {
    if (!isDue) requestAnimationFrame(check);
    isDue = true;
  };
  new MutationObserver(ask).observe(root, { childList: true, subtree: true, attributeFilter: ["open", "hidden"] });
  window.addEventListener("resize", ask);
}

async function start() {
  const report = await loadReport();
  report.panel = async (number) => readPanel(await panelBytes(number));
  preparePrinting(() => aboutOf(report, tabs));
  focusScrollers(document.getElementById("main"));
  showNotes(report.notes);
  const tabs = makeTabs(report);
  report.openTab = (id) => {
    const tab = tabs.find((one) => one.id === id);
    openTab(report, tabs, tab);
    window.scrollTo(0, 0);
    return tab.content;
  };
  report.followFlag = (link) => report.openTab("relate").follow(link);
  report.openSites = (filter) => report.openTab("sites").siteTable.follow(filter);
  const named = siteOfAddress(report);
  const sites = tabs.find((tab) => tab.id === "sites");
  openTab(report, tabs, named >= 0 ? sites : tabs[0]);
  if (named >= 0) sites.content.siteTable.goTo(named);
  document.getElementById("loading").remove();
  darkScheme.addEventListener("change", redrawAll);
  document.documentElement.dataset.ready = "true";
}

start().catch((error) => {
  document.getElementById("loading").textContent = `This report can't be shown: ${error.message}`;
  throw error;
});
