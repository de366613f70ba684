// The page: files to a run, and its events to what is shown.

import { Native } from "../cpu/native.js";
import { readCohort } from "./cohort/reading.js";
import { darkScheme, distancePanels, filesCard, listCard, make, mapPanel } from "./components.js";
import { preparePrinting, showRelate, showSites, unpack } from "./components.js";
import { Explaining } from "./explaining.js";
import { exampleFiles, hasExample } from "./examples.js";
import { fileRows } from "./file_sums.js";
import { SLOTS } from "./files.js";
import { Results } from "./results.js";
import { Runner } from "./runner.js";
import { Setup } from "./setup.js";
import { element, Status, showProblem } from "./status.js";

/** @import { Given, Slot } from "./files.js" */
/** @import { Message } from "./runner.js" */

const REDRAW = 250; // milliseconds between two additions to the list of sites

class Page {
  /** @param {ArrayBuffer} program of the worker @param {ArrayBuffer} wasm @param {object} kernels */
  constructor(program, wasm, kernels) {
    this.status = new Status();
    this.native = Native.start(wasm);
    this.results = new Results(this.native, []);
    /** @type {ReturnType<typeof showSites> | null} */
    this.view = null;
    this.shown = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.tables = 0; // how often tables were given
    /** @type {import("./file_sums.js").FileRow[]} */
    this.files = []; // of the run and the tables that are shown
    /** @type {[string, string][]} */
    this.options = []; // of the run
    this.explaining = new Explaining((position) => this.explain(position));
    this.setup = new Setup({
      onRun: (inputs, options) => this.begin(inputs, options),
      onGpu: (gpu) => {
        this.status.engine = [];
        this.setup.become({ isReady: false });
        this.runner.allowGpu(gpu);
      },
      onTables: (tables) => this.showTables(tables),
      onPossible: (isPossible) => this.explaining.become(isPossible),
      onProblem: showProblem,
    });
    preparePrinting(() => this.about());
    this.runner = new Runner(program, wasm, kernels, (message) => this.heed(message));
    element("cancel").addEventListener("click", () => this.cancel());
    element("example").hidden = !hasExample();
    element("example").addEventListener("click", async () => {
      this.setup.take(await exampleFiles());
      this.setup.run();
    });
  }

  /** Reads tables and shows them; those that are given last, if there are two lots. @param {Given[]} given */
  async showTables(given) {
    const turn = ++this.tables;
    const { report, problems } = await readCohort(given);
    if (turn !== this.tables) return;
    problems.forEach(showProblem);
    this.tellFiles(["tables"]);
    const isFirst = element("cohort").childElementCount === 0;
    element("cohort").replaceChildren(...(report ? [cohortView(report)] : []));
    // Flags come to the first screen.
    if (report && isFirst && !this.setup.files.of("alignments").length) this.setup.box.open = false;
    document.documentElement.dataset.tables = String(turn);
  }

  /** @param {object} inputs @param {object} options */
  begin(inputs, options) {
    showProblem("");
    this.clear([]);
    this.setup.become({ isRunning: true });
    this.status.begin();
    this.options = this.setup.options.asTyped;
    this.tellFiles(SLOTS.filter((slot) => slot !== "tables"));
    this.runner.run(inputs, options);
  }

  /** @param {string} position */
  explain(position) {
    showProblem("");
    this.explaining.clear();
    this.runner.explain(this.setup.inputs, this.setup.options.values(), position);
  }

  /** Reads the checksums of the files of some slots, which take the place of those before. @param {Slot[]} slots */
  async tellFiles(slots) {
    const rows = await fileRows(this.setup.files.withIndexes(slots));
    const others = this.files.filter(([what]) => !slots.some((slot) => slot === what));
    this.files = [...others, ...rows];
    const [summary] = element("made").children;
    element("made").replaceChildren(summary, ...this.about().cards);
    element("made").hidden = this.files.length === 0;
  }

  /** What a print says of itself. */
  about() {
    const version = document.documentElement.dataset.version ?? "";
    const options = this.options.length ? [listCard("Options", ["Option", "Value"], this.options)] : [];
    return { title: document.title, version, cards: this.files.length ? [filesCard(this.files), ...options] : [] };
  }

  /** @param {string[]} samples */
  clear(samples) {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.results = new Results(this.native, samples);
    this.view = null;
    this.shown = 0;
    element("results").replaceChildren();
  }

  cancel() {
    this.status.stop("Cancelled");
    this.setup.become({ isRunning: false, isReady: false });
    this.status.engine = [];
    this.runner.restart();
    this.setup.box.open = true;
    element("run").focus();
  }

  /** @param {Message} message */
  heed(message) {
    if (message.kind === "ready") {
      element("backend").textContent = message.description;
      this.setup.become({ isReady: true });
      document.documentElement.dataset.ready = "true";
    } else if (message.kind === "begin") this.clear(message.samples);
    else if (message.kind === "region") this.add(message.result);
    else if (message.kind === "progress") this.status.progress(message);
    else if (message.kind === "engine") this.status.tellEngine(message.text);
    else if (message.kind === "warning") this.status.warn(message.text);
    else if (message.kind === "note") this.status.note(message.text);
    else if (message.kind === "end") this.end(message);
    else if (message.kind === "explained") this.explaining.show(message.explanation);
    else this.fail(message.text);
  }

  /** @param {import("./results.js").RegionResult} result */
  add(result) {
    this.results.add(result);
    this.status.found(this.results.count);
    if (!this.view) this.draw();
    else if (!this.timer) this.timer = setTimeout(() => this.draw(), REDRAW);
  }

  draw() {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.results.count === this.shown) return;
    this.shown = this.results.count;
    if (this.view) this.view.siteTable.grow(this.shown);
    else {
      this.view = showSites(this.results.report);
      element("results").append(this.view);
    }
  }

  /** @param {Message & {kind: "end"}} message */
  end({ counts, downloads }) {
    this.draw();
    this.status.end(counts, downloads);
    this.setup.become({ isRunning: false });
    document.documentElement.dataset.runs = String(Number(document.documentElement.dataset.runs ?? 0) + 1);
  }

  /** @param {string} text */
  fail(text) {
    if (this.setup.isRunning) {
      this.status.stop("Stopped");
      this.setup.box.open = true;
    }
    this.setup.become({ isRunning: false });
    showProblem(text.replace(/^-r: /, "Region: ").replace(/^POSITION: /, "Position: "));
  }
}

/** Flags first, then the map and the distances. @param {import("./components.js").CohortReport} report */
function cohortView(report) {
  return make(
    "div",
    { class: "view" },
    report.flags ? showRelate(report) : null,
    report.map ? mapPanel(report) : null,
    ...(report.distances ? distancePanels(report) : []),
  );
}

async function start() {
  // WebRTC sends packets past `connect-src`, and browsers do not know the policy's directive for it yet: its functions go.
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) Reflect.deleteProperty(globalThis, name);
  const parts = ["worker", "wasm", "kernels"].map((id) => unpack(element(id).textContent ?? ""));
  const [program, wasm, kernels] = await Promise.all(parts);
  new Page(program, wasm, JSON.parse(new TextDecoder().decode(kernels)));
  if ("hosted" in document.documentElement.dataset) navigator.serviceWorker?.register("service_worker.js");
  darkScheme.addEventListener("change", () =>
    document.querySelectorAll("canvas").forEach((canvas) => /** @type {any} */ (canvas).redraw?.()),
  );
}

start().catch((error) => showProblem(`This page does not work here: ${error.message}`));
