"""Distances between samples for the report: nearest samples and a heatmap."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.report.named_table import NamedTable

HEATMAP_SAMPLES = 500
"""The most samples of a heatmap."""
NEAREST = 3
"""How many nearest samples of each are kept."""
_DIGITS = 6
_COLUMNS = ("sample_1", "sample_2", "jaccard", "mash_distance", "containment", "ani")
Values = Sequence[float | None]
"""Mash distance, ANI, containment and Jaccard index of two samples."""


class ShownDistances:
    """The rows of a table of distances. It holds every pair of at most `HEATMAP_SAMPLES` samples.

    Attributes
    ----------
    samples : dict of str to int
        Number of each sample.
    """

    def __init__(self) -> None:
        self.samples: dict[str, int] = {}
        self._nearest: list[list[tuple[float, int, str, Values]]] = []
        self._pairs: list[tuple[int, int, float, float]] | None = []
        self._rows = 0

    def add(self, names: tuple[str, str], values: Values) -> None:
        first, second = map(self._number, names)
        if first == second:
            return
        self._rows += 1
        mash, ani, *_ = values
        if mash is None or len(self.samples) > HEATMAP_SAMPLES:
            self._pairs = None
        if mash is None:
            return
        for sample, neighbour, name in ((first, second, names[1]), (second, first, names[0])):
            insort(self._nearest[sample], (mash, neighbour, name, values), key=lambda kept: kept[:2])
            del self._nearest[sample][NEAREST:]
        if self._pairs is not None:
            self._pairs.append((first, second, mash, np.nan if ani is None else ani))

    def _number(self, sample: str) -> int:
        number = self.samples.setdefault(sample, len(self.samples))
        if number == len(self._nearest):
            self._nearest.append([])
        return number

    def nearest(self, sample: str) -> tuple[str, float] | None:
        """The nearest other sample, and its Mash distance; None for a sample without a row."""
        number = self.samples.get(sample)
        if number is None or not self._nearest[number]:
            return None
        mash, _, name, _ = self._nearest[number][0]
        return name, mash

    def for_page(self) -> dict[str, Any]:
        """Each sample's nearest, and the heatmap where the table has all pairs of few enough samples."""
        return {
            "samples": list(self.samples),
            "pairs": self._rows,
            "most": HEATMAP_SAMPLES,
            "nearest": [
                [sample, neighbour, *map(_short, values)]
                for sample, kept in enumerate(self._nearest)
                for _, neighbour, _, values in kept
            ],
            "heatmap": self._heatmap(),
        }

    def _heatmap(self) -> dict[str, Values] | None:
        """Mash distances and ANIs above the diagonal, row after row; None if the table lacks pairs or has too many."""
        count = len(self.samples)
        if not self._pairs:
            return None
        first, second, *values = np.array(self._pairs).T
        rows, columns = first.astype(int), second.astype(int)
        both: NDArray[np.float64] = np.full((2, count, count), np.nan)
        both[:, rows, columns] = both[:, columns, rows] = values
        mash, ani = both[:, *np.triu_indices(count, 1)]
        if np.isnan(mash).any():
            return None
        return {"mash": list(map(_short, mash.tolist())), "ani": list(map(_short, ani.tolist()))}


def read_distances(path: str) -> ShownDistances:
    """The table of `pairhmm map distances`."""
    table = NamedTable(path, _COLUMNS, "pairhmm map distances")
    distances = ShownDistances()
    for row in table:
        jaccard, containment, ani = (table.number(row, name) for name in ("jaccard", "containment", "ani"))
        # A table where nothing is above chance has no figures.
        is_unknown = jaccard is containment is ani is None
        mash = (table.number if is_unknown else table.known)(row, "mash_distance")
        distances.add((row["sample_1"], row["sample_2"]), (mash, ani, containment, jaccard))
    return distances


def _short(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else round(value, _DIGITS)
