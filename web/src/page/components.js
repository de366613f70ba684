// What the report's page draws with (pairhmm/report_page/), for this page too. Their types are in components.d.ts.

export { darkScheme } from "../../../pairhmm/report_page/colours.js";
export { unpack } from "../../../pairhmm/report_page/data.js";
export { distancePanels } from "../../../pairhmm/report_page/distances.js";
export { announce, make } from "../../../pairhmm/report_page/dom.js";
export { formatNumber, formatSeconds, plural } from "../../../pairhmm/report_page/format.js";
export { mapPanel } from "../../../pairhmm/report_page/map.js";
export { showRelate } from "../../../pairhmm/report_page/relate.js";
export { showSites } from "../../../pairhmm/report_page/sites.js";
