// The benchmark page: measures this browser, draws the curves, and gives the figures as JSON.

import { removeWebRtc } from "../page/without_webrtc.js";
import { chart, legend } from "./chart.js";
import { measure } from "./suite.js";

/** @typedef {import("./data.js").BenchmarkData} BenchmarkData */
/** @typedef {import("./suite.js").Figure} Figure */
/** @typedef {import("../gpu/gpu.js").Gpu} Gpu */
/** @typedef {import("../gpu/variants.js").GpuData} GpuData */

const LIMITS = /** @type {const} */ ([
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupsPerDimension",
]);

/** @param {string} id */
function element(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** Bytes that are in the page as base64 of raw deflate. @param {string} id */
async function unpacked(id) {
  const bytes = Uint8Array.from(atob(element(id).textContent ?? ""), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).arrayBuffer();
}

/** @param {ArrayBuffer} bytes */
const parsed = (bytes) => JSON.parse(new TextDecoder().decode(bytes));

class Page {
  /** @type {Figure[]} */
  #figures = [];
  /** @type {Record<string, unknown>} */
  #about = { browser: navigator.userAgent, cores: navigator.hardwareConcurrency };
  /** @type {AbortController | undefined} */
  #abort;

  /** @param {WebAssembly.Module} wasm @param {GpuData} kernels @param {BenchmarkData} data */
  constructor(wasm, kernels, data) {
    this.given = { wasm, kernels, data };
    this.#about.version = document.documentElement.dataset.version;
    this.#tell([["Browser", navigator.userAgent]]);
    element("measure").addEventListener("click", () => void this.measure());
    element("cancel").addEventListener("click", () => this.#abort?.abort());
    element("copy").addEventListener("click", () => void navigator.clipboard.writeText(this.text()));
    element("measure").removeAttribute("disabled");
    this.#state("ready");
  }

  /** The figures, for an issue. */
  text() {
    return JSON.stringify({ ...this.#about, figures: this.#figures }, null, 1);
  }

  async measure() {
    this.#abort = new AbortController();
    this.#figures = [];
    this.#running(true);
    const longest = Number(/** @type {HTMLSelectElement} */ (element("longest")).value);
    const workers = navigator.hardwareConcurrency || 1;
    const log = (/** @type {string} */ message) => this.#state(message);
    try {
      for await (const found of measure({ ...this.given, longest, workers, log, signal: this.#abort.signal })) {
        if ("device" in found) this.#describe(found.device);
        else this.#add(found);
      }
      this.#state("done");
    } catch (error) {
      this.#state(this.#abort.signal.aborted ? "cancelled" : `stopped: ${/** @type {Error} */ (error).message}`);
    }
    this.#running(false);
  }

  /** @param {boolean} isRunning */
  #running(isRunning) {
    element("measure").toggleAttribute("disabled", isRunning);
    element("cancel").hidden = !isRunning;
  }

  /** @param {string} message */
  #state(message) {
    element("state").textContent = message;
  }

  /** @param {[string, string][]} rows */
  #tell(rows) {
    element("about").replaceChildren(
      ...rows.flatMap(([name, value]) => {
        const [term, own] = [document.createElement("dt"), document.createElement("dd")];
        term.textContent = name;
        own.textContent = value;
        return [term, own];
      }),
    );
  }

  /** @param {Gpu | null} gpu */
  #describe(gpu) {
    if (!gpu)
      return this.#tell([
        ["Browser", navigator.userAgent],
        ["GPU", "none"],
      ]);
    const { device, adapter } = gpu.device;
    const { vendor, architecture, device: name, description } = adapter.info;
    const limits = Object.fromEntries(LIMITS.map((limit) => [limit, device.limits[limit]]));
    const features = Array.from(device.features).sort();
    Object.assign(this.#about, { gpu: { vendor, architecture, device: name, description }, way: gpu.description });
    Object.assign(this.#about, { limits, features, subgroup: gpu.device.subgroup });
    this.#tell([
      ["Browser", navigator.userAgent],
      ["GPU", `${gpu.description}${gpu.device.isSoftware ? "; a program that stands for a GPU" : ""}`],
      ["Subgroups", gpu.device.subgroup > 0 ? `${gpu.device.subgroup} lanes` : "not used"],
      ...LIMITS.map((limit) => /** @type {[string, string]} */ ([limit, limits[limit].toLocaleString("en")])),
      ["Features", features.join(", ")],
    ]);
  }

  /** @param {Figure} figure */
  #add(figure) {
    this.#figures.push(figure);
    this.#draw(figure.section);
    /** @type {HTMLTextAreaElement} */ (element("json")).value = this.text();
    element("export").hidden = false;
  }

  /** @param {Figure["section"]} section */
  #draw(section) {
    const own = this.#figures.filter((figure) => figure.section === section);
    const target = element(section);
    target.hidden = false;
    const ways = [...new Set(own.map(({ way }) => way))];
    const sizes = [...new Set(own.map(({ size }) => size))];
    const of = (/** @type {string} */ way, /** @type {number | string} */ size) =>
      own.find((figure) => figure.way === way && figure.size === size);
    const parts = [];
    if (section !== "batches") {
      const curves = ways.map((way) => ({
        name: way,
        points: own
          .filter((figure) => figure.way === way)
          .map((figure) => /** @type {[number, number]} */ ([Number(figure.size), 1e3 * figure.value])),
      }));
      parts.push(chart(curves, { title: "Milliseconds by length", x: "bases of a pair", y: "ms" }), legend(curves));
    }
    const unit = section === "batches" ? 1 : 1e3;
    const rows = ways.map((way) => [
      way,
      ...sizes.map((size) => {
        const figure = of(way, size);
        return figure ? rounded(unit * figure.value) : "";
      }),
    ]);
    parts.push(table([section === "batches" ? "GCUPS" : "ms", ...sizes.map(named)], rows));
    target.querySelector(".figure")?.replaceChildren(...parts);
  }
}

/** @param {number} value */
function rounded(value) {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

/** @param {number | string} size */
function named(size) {
  return typeof size === "number" ? size.toLocaleString("en") : size;
}

/** @param {string[]} head @param {string[][]} rows */
function table(head, rows) {
  const made = document.createElement("table");
  const line = (/** @type {string[]} */ cells, /** @type {boolean} */ isHead) => {
    const row = document.createElement("tr");
    cells.forEach((text, index) => {
      const cell = document.createElement(isHead || index === 0 ? "th" : "td");
      cell.scope = isHead ? "col" : "row";
      if (!isHead && index > 0) cell.removeAttribute("scope");
      cell.textContent = text;
      row.append(cell);
    });
    return row;
  };
  const [top, body] = [document.createElement("thead"), document.createElement("tbody")];
  top.append(line(head, true));
  body.append(...rows.map((row) => line(row, false)));
  made.append(top, body);
  const around = document.createElement("div");
  around.className = "wide";
  around.tabIndex = 0;
  around.append(made);
  return around;
}

removeWebRtc();
const [wasm, kernels, data] = await Promise.all(["wasm", "kernels", "data"].map(unpacked));
Object.assign(window, { page: new Page(await WebAssembly.compile(wasm), parsed(kernels), parsed(data)) });
