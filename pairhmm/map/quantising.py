"""Coordinates as cells of a grid."""

from __future__ import annotations

from math import erf, sqrt

import numpy as np
from numpy.typing import NDArray

CELLS = 1 << 16
"""Cells of an axis."""


def cells_by_cdf(coordinates: NDArray[np.float32]) -> NDArray[np.int64]:
    """The cells of positions by the Gaussian distribution function of their z-scores, shape (samples, 2).

    Positions that are all equal are in the middle.
    """
    wide = coordinates.astype(np.float64)
    differs = wide.min(axis=0) < wide.max(axis=0)
    deviations = np.where(differs, wide.std(axis=0), 1)
    scores = np.where(differs, (wide - wide.mean(axis=0)) / deviations, 0)
    below = np.array([0.5 + 0.5 * erf(score / sqrt(2)) for score in scores.reshape(-1).tolist()])
    return np.minimum((below * CELLS).astype(np.int64), CELLS - 1).reshape(scores.shape)


def cells_by_rank(coordinates: NDArray[np.float32]) -> NDArray[np.int64]:
    """The cells of positions by their rank on each axis, shape (samples, 2). Equal coordinates share a rank."""
    cells = np.empty(coordinates.shape, dtype=np.int64)
    for axis in range(coordinates.shape[1]):
        of_axis = coordinates[:, axis]
        cells[:, axis] = np.searchsorted(np.sort(of_axis), of_axis) * CELLS // len(of_axis)
    return cells
