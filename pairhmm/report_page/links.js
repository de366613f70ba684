// Links to other programs, where the reader asked for them (--link-genome). Nothing is requested before a click.

import { make } from "./dom.js";

const AROUND_LINK = 50; // bases on either side

// links: [name, address] with {place} or {rs} in it (pairhmm/reporting/links.py).
export function siteLinks(links, site) {
  if (!links?.length) return null;
  const last = site.pos + Math.max(site.ref.length, 1) - 1;
  const place = `${site.chrom}:${Math.max(1, site.pos - AROUND_LINK)}-${last + AROUND_LINK}`;
  const ids = site.id.split(";").filter((id) => /^rs\d+$/.test(id));
  const found = links.flatMap(([name, address]) =>
    address.includes("{rs}")
      ? ids.map((id) => [`${name} ${id}`, address.replace("{rs}", id)])
      : [[name, address.replace("{place}", encodeURIComponent(place))]],
  );
  const attributes = { target: "_blank", rel: "noopener noreferrer" };
  return make("span", { class: "links" }, ...found.map(([name, href]) => make("a", { href, ...attributes }, name)));
}
