// The WGSL text of each variant of a kernel, from what Python exports as JSON (pairhmm/backends/webgpu/browser.py).

/**
 * A table of shapes: [lanes, rows, whether reads are cut into strips], and [shape, number of lengths] in order.
 *
 * @typedef {{known: [number, number, number][], ofLength: [number, number][], family: number[], tierCells: number,
 *   itemSizes: [number, number, number]}} ShapeTable
 */

/**
 * What Python exports for the page (`python -m pairhmm.backends.webgpu.browser`).
 *
 * @typedef {object} GpuData
 * @property {string[]} pieces declarations and modules of WGSL
 * @property {Record<string, number[]>} variants the pieces of each, by name
 * @property {string} subgroups WGSL that measures the size of subgroups
 * @property {string} enableSubgroups WGSL before a text that shuffles
 * @property {{gpu: number, trees: number, software: number}} parts
 * @property {{bytes: number, at: Record<string, number>}} work
 * @property {ShapeTable} shapes
 * @property {ShapeTable} treeShapes
 * @property {[number, number][]} rescuers
 * @property {Record<string, number>} rescaleSteps columns between two rescalings of their lanes, by rows of a lane
 * @property {Record<string, {laneEntries: number, madeEntries: [number, number]}>} treeRows entries of a lane's slot, and
 *   of what is made for an item without masks and with them, by rows of a lane
 * @property {{columns: number, at: Record<string, number>}} kinds of rows of a profile model
 * @property {Record<string, number>} constants
 */

/**
 * What a kernel is compiled for.
 *
 * @typedef {object} Variant
 * @property {string} kernel its entry point
 * @property {number} lanes
 * @property {number} rows of a lane
 * @property {boolean} shuffles lanes hand values on by subgroup shuffles, not by workgroup memory
 * @property {"qualities" | "kinds" | "folded"} from what rows are made from
 * @property {number | null} extension probability that a deletion is extended, if it is one number for the batch
 * @property {number} part columns of an iteration of the loop
 */

/** A variant's name, the same for any extension. @param {Variant} variant */
export function nameOf({ kernel, lanes, rows, shuffles, from, extension, part }) {
  const [way, deletions] = [shuffles ? "shuffles" : "memory", extension === null ? "varying" : "shared"];
  return [kernel, lanes, rows, way, from, deletions, part].join(" ");
}

/**
 * @param {GpuData} data
 * @param {Variant} variant
 * @returns {string}
 */
export function source(data, variant) {
  const text = data.variants[nameOf(variant)].map((piece) => data.pieces[piece]).join("");
  const own = text.replace(/(?<=const EXTEND_DELETION = ).*(?=f;)/, hexOf(variant.extension ?? 0));
  return (variant.shuffles ? data.enableSubgroups : "") + own;
}

/** The float32 next to a positive number, as Python's float.hex writes it. @param {number} value */
function hexOf(value) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.fround(value));
  const bits = view.getBigUint64(0);
  const exponent = Number(bits >> 52n) - 1023;
  if (exponent === -1023) return "0x0.0p+0";
  const digits = (bits & ((1n << 52n) - 1n)).toString(16).padStart(13, "0");
  return `0x1.${digits}p${exponent < 0 ? "" : "+"}${exponent}`;
}
