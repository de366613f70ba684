// Links to other programs, where the reader asked for them (--link-genome). Nothing is requested before a click.

import { make } from "./dom.js";

const AROUND_LINK = 50; // bases on either side

export function siteLinks(genome, site) {
  if (!genome) return null;
  const last = site.pos + Math.max(site.ref.length, 1) - 1;
  const place = `${site.chrom}:${Math.max(1, site.pos - AROUND_LINK)}-${last + AROUND_LINK}`;
  const links = [
    ["UCSC", `https://genome.ucsc.edu/cgi-bin/hgTracks?db=${genome}&position=${encodeURIComponent(place)}`],
    ["IGV", `http://localhost:60151/goto?locus=${encodeURIComponent(place)}`],
    ...site.id
      .split(";")
      .filter((id) => /^rs\d+$/.test(id))
      .map((id) => [`dbSNP ${id}`, `https://www.ncbi.nlm.nih.gov/snp/${id}`]),
  ];
  const attributes = { target: "_blank", rel: "noopener noreferrer" };
  return make("span", { class: "links" }, ...links.map(([name, href]) => make("a", { href, ...attributes }, name)));
}
