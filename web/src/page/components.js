// What the report's page draws with (pairhmm/report/page/), for this page too. Their types are in components.d.ts.

export { darkScheme } from "../../../pairhmm/report/page/colours.js";
export { unpack } from "../../../pairhmm/report/page/data.js";
export { distancePanels } from "../../../pairhmm/report/page/distances.js";
export { announce, make } from "../../../pairhmm/report/page/dom.js";
export { explanationCard } from "../../../pairhmm/report/page/explained.js";
export { formatNumber, formatSeconds, plural } from "../../../pairhmm/report/page/format.js";
export { mapPanel } from "../../../pairhmm/report/page/map.js";
export { preparePrinting } from "../../../pairhmm/report/page/printing.js";
export { filesCard, listCard } from "../../../pairhmm/report/page/provenance.js";
export { showRelate } from "../../../pairhmm/report/page/relate.js";
export { showSites } from "../../../pairhmm/report/page/sites.js";
