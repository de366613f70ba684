"""Where a site's links lead, if a report has links."""

from __future__ import annotations

_LINKS = (
    ("UCSC", "https://genome.ucsc.edu/cgi-bin/hgTracks?db=GENOME&position={place}"),
    ("IGV", "http://localhost:60151/goto?locus={place}"),
    ("dbSNP", "https://www.ncbi.nlm.nih.gov/snp/{rs}"),
)
"""Name and address. The page puts in `{place}`, or `{rs}` for each ID of dbSNP that a site has."""


def site_links(genome: str | None) -> list[tuple[str, str]]:
    """The links of a genome by UCSC's name of it; none without one."""
    return [] if genome is None else [(name, address.replace("GENOME", genome)) for name, address in _LINKS]
