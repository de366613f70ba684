"""The contents of a run's outputs, as custom content for MultiQC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pairhmm.commands.report_data import columns, concordance, figures, rounded
from pairhmm.commands.report_found import Found
from pairhmm.io.report.multiqc import general_statistics, heatmap
from pairhmm.reporting.hits import Hits

MOST_SIGNATURES = 50
"""The most signatures in MultiQC's heatmap. Those with the most hits are taken."""
MULTIQC_CONTENTS = ("pairhmm_general", "pairhmm_concordance", "pairhmm_hits")
"""Names of the contents that `multiqc_contents` may give."""


def multiqc_contents(found: Found) -> dict[str, dict[str, Any]]:
    """Custom content for MultiQC, by the name of its file without the ending."""
    data = {}
    # A table of a run has the rows of its sheet, those without results too.
    for sample in found.samples if found.sheet is None else found.sheet:
        data[sample] = {key: value for key, value in figures(found, sample).items() if value is not None}
    contents = {"pairhmm_general": general_statistics(columns(found), data)}
    agreement = concordance(found)
    if agreement is not None:
        contents["pairhmm_concordance"] = heatmap(
            "pairhmm_concordance",
            "Genotype concordance",
            "Share of equal genotypes of each two samples, of the sites where both are called.",
            agreement["samples"],
            agreement["samples"],
            agreement["shares"],
        )
    if found.hits is not None and found.hits.count:
        contents["pairhmm_hits"] = _hits_heatmap(found.hits, found.scanned)
    return contents


def _hits_heatmap(hits: Hits, samples: Sequence[str]) -> dict[str, Any]:
    best = hits.best_means()
    has_qualities = any(mean is not None for mean in best.values())
    values = best if has_qualities else dict.fromkeys(best, 1.0)
    times = {name: sum(signature == name for signature, _ in best) for name in hits.signatures}
    shown = sorted(times, key=lambda name: -times[name])[:MOST_SIGNATURES]
    what = "Best mean base quality (Phred) of each signature's hits" if has_qualities else "Signatures that occur"
    of = f"; the {len(shown)} signatures in most samples of {len(times)}" if len(shown) < len(times) else ""
    rows = [[rounded(values.get((signature, sample))) for signature in shown] for sample in samples]
    return heatmap("pairhmm_hits", "Signature hits", f"{what}{of}.", shown, samples, rows)
