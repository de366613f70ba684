"""Distances between samples for the report: nearest samples and a heatmap."""

from __future__ import annotations

from array import array
from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

HEATMAP_SAMPLES = 500
"""The most samples of a heatmap."""
NEAREST = 3
"""How many nearest samples of each are kept."""
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class SampleDistance:
    """A row of the table: the distance between two samples.

    Attributes
    ----------
    jaccard, mash, containment, ani : float or None
        None where the table has ``.``.
    """

    samples: tuple[str, str]
    jaccard: float | None
    mash: float | None
    containment: float | None
    ani: float | None


class ShownDistances:
    """Takes the rows of a table of distances. It holds every pair of at most `HEATMAP_SAMPLES` samples.

    Attributes
    ----------
    samples : dict of str to int
        Number of each sample.
    """

    def __init__(self) -> None:
        self.samples: dict[str, int] = {}
        self._nearest: list[list[tuple[float, int, SampleDistance]]] = []
        self._pairs: tuple[array[int], array[int], array[float], array[float]] | None = (
            array("l"),
            array("l"),
            array("d"),
            array("d"),
        )
        self._rows = 0

    def add(self, row: SampleDistance) -> None:
        first, second = map(self._number, row.samples)
        if first == second:
            return
        self._rows += 1
        if row.mash is None:
            self._pairs = None
            return
        for sample, neighbour in ((first, second), (second, first)):
            insort(self._nearest[sample], (row.mash, neighbour, row), key=lambda kept: kept[:2])
            del self._nearest[sample][NEAREST:]
        if len(self.samples) > HEATMAP_SAMPLES:
            self._pairs = None
        if self._pairs is not None:
            firsts, seconds, mash, ani = self._pairs
            firsts.append(first)
            seconds.append(second)
            mash.append(row.mash)
            ani.append(np.nan if row.ani is None else row.ani)

    def _number(self, sample: str) -> int:
        number = self.samples.setdefault(sample, len(self.samples))
        if number == len(self._nearest):
            self._nearest.append([])
        return number

    def nearest(self, sample: str) -> tuple[str, SampleDistance] | None:
        """The nearest other sample, and the row of the two; None for a sample without a row."""
        number = self.samples.get(sample)
        if number is None or not self._nearest[number]:
            return None
        row = self._nearest[number][0][2]
        return row.samples[row.samples[0] == sample], row

    def matrices(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Mash distances and ANIs, each of shape (samples, samples); None if the table lacks pairs or has too many."""
        count = len(self.samples)
        if self._pairs is None or count < 2:
            return None
        first, second, *values = (np.array(column) for column in self._pairs)
        both = np.full((2, count, count), np.nan)
        for matrix, column in zip(both, values, strict=True):
            matrix[first, second] = matrix[second, first] = column
        np.fill_diagonal(both[0], 0.0)
        np.fill_diagonal(both[1], 1.0)
        return None if np.isnan(both[0]).any() else (both[0], both[1])

    def for_page(self) -> dict[str, Any]:
        """Each sample's nearest, and the heatmap where the table has all pairs of few enough samples."""
        names = list(self.samples)
        data: dict[str, Any] = {
            "samples": names,
            "pairs": self._rows,
            "most": HEATMAP_SAMPLES,
            "nearest": [
                [sample, neighbour, *map(_short, (row.mash, row.ani, row.containment, row.jaccard))]
                for sample, kept in enumerate(self._nearest)
                for _, neighbour, row in kept
            ],
            "heatmap": None,
        }
        matrices = self.matrices()
        if matrices is not None:
            mash, ani = (_triangle(matrix) for matrix in matrices)
            data["heatmap"] = {"mash": mash, "ani": ani}
        return data


def _short(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else round(value, _DIGITS)


def _triangle(matrix: NDArray[np.float64]) -> Sequence[float | None]:
    """The values above the diagonal, row after row."""
    return [_short(value) for value in matrix[np.triu_indices(len(matrix), 1)].tolist()]
