"""Figures of results, by matplotlib (``pip install 'pairhmm[plot]'``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pairhmm.calling.scored_region import Evidence

COLOURS = ("#ffe2aa", "#fad6a0", "#f0d6b4", "#d6d9de", "#9ebcdc", "#4886c0", "#084284")
"""The report's colours (report/page/colours.js), from against a haplotype to for it."""

SPAN = 2
"""log10 on either side of a read's middle at which colours end, as in report/page/heatmap.js."""

_MOST_NAMES = 40


def likelihoods(evidence: Evidence, axes: Axes | None = None) -> Axes:
    """Draw the likelihoods of a region as the report does: blue where a read speaks for a haplotype, yellow against it.

    Reads are in order of the haplotype that they choose. Colours compare the haplotypes of each read alone.

    Parameters
    ----------
    evidence : Evidence
        From `pairhmm.likelihoods`.
    axes : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ModuleNotFoundError
        Where matplotlib is not installed.

    Examples
    --------
    >>> import pairhmm.plot
    >>> evidence = next(pairhmm.likelihoods("sample.bam", "ref.fa", "candidates.vcf"))  # doctest: +SKIP
    >>> pairhmm.plot.likelihoods(evidence).figure.savefig("region.png")  # doctest: +SKIP
    """
    pyplot, colors = _matplotlib()
    behind = _behind(evidence)
    order = np.lexsort((behind.sum(axis=1), behind.argmin(axis=1)))
    middle = np.minimum(behind.max(axis=1, keepdims=True), 4 * SPAN) / 2
    drawn: Axes = pyplot.figure(layout="constrained").add_subplot() if axes is None else axes
    scale = colors.LinearSegmentedColormap.from_list("for and against", COLOURS)
    image = drawn.imshow(
        (middle - behind)[order], cmap=scale, vmin=-SPAN, vmax=SPAN, aspect="auto", interpolation="none"
    )
    drawn.figure.colorbar(image, ax=drawn, label="log10 likelihood, from the middle of the read's")
    drawn.set_xticks(range(behind.shape[1]), [name.rpartition("/")[2] for name in evidence.haplotype_names])
    names = [evidence.read_names[read] for read in order] if len(order) <= _MOST_NAMES else []
    drawn.set_yticks(range(len(names)), names)
    region = evidence.region
    drawn.set(xlabel="haplotype", ylabel="read", title=f"{region.chrom}:{region.start + 1:,}-{region.end:,}")
    return drawn


def _behind(evidence: Evidence) -> Any:
    """How far (log10) each haplotype is behind the best one of a read: [reads][haplotypes]."""
    known = np.where(np.isfinite(evidence.log10), evidence.log10, -1e9)
    return known.max(axis=1, keepdims=True) - known


def _matplotlib() -> tuple[Any, Any]:
    try:
        from matplotlib import colors, pyplot
    except ModuleNotFoundError:
        raise ModuleNotFoundError("figures need matplotlib, which is not installed: pip install matplotlib") from None
    return pyplot, colors
