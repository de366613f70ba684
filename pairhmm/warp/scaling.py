"""Levels as whole numbers of 16 bits, on a scale that signals of different pores and runs share."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Normalisation = Literal["z-score", "median", "none"]
NORMALISATIONS: tuple[str, ...] = get_args(Normalisation)

SCALES = 1e-6, 1e6
"""The lowest and the highest scale."""

UNITS_PER_DEVIATION = 64
"""The scale of normalised levels. The noise of a level is a tenth of the levels' deviation, or six units, and the costs
of a few hundred events stay below 65,535: they are computed in 16 bits."""

_OF_NORMAL = 1.4826
"""The standard deviation of normal values by their median absolute deviation."""

_LOWEST, _HIGHEST = np.iinfo(np.int16).min, np.iinfo(np.int16).max

Levels = NDArray[np.floating]


def normalised(levels: Levels, way: Normalisation) -> NDArray[np.float64]:
    """Levels with centre 0 and spread 1; levels without a spread become 0.

    "z-score": by mean and standard deviation. "median": by the median and the median absolute deviation, times 1.4826.
    "none": as they are.
    """
    values = levels.astype(np.float64)
    if way == "none" or not len(values):
        return values
    centred = values - (values.mean() if way == "z-score" else np.median(values))
    spread = centred.std() if way == "z-score" else _OF_NORMAL * np.median(np.abs(centred))
    # A level that is infinitely far by a tiny spread is clipped later.
    with np.errstate(over="ignore"):
        return centred / spread if spread > 0 else np.zeros(len(values))


def quantised(levels: Levels, scale: float) -> tuple[NDArray[np.int16], int]:
    """Levels times `scale` as the nearest whole numbers of 16 bits, and how many were out of range and were clipped."""
    with np.errstate(over="ignore"):
        whole = np.rint(levels.astype(np.float64) * scale)
    outside = int(np.count_nonzero((whole < _LOWEST) | (whole > _HIGHEST)))
    return np.clip(whole, _LOWEST, _HIGHEST).astype(np.int16), outside


def fitting_scale(levels: Levels) -> float:
    """A scale for levels in units of their own.

    It is 1 for whole numbers of 16 bits. Otherwise it is the largest power of two that leaves the levels within a
    quarter of the range, so that other signals may be larger.
    """
    if not len(levels):
        return 1.0
    largest = float(np.abs(levels).max())
    if largest <= _HIGHEST and np.array_equal(levels, np.rint(levels)):
        return 1.0
    return float(2.0 ** np.floor(np.log2(_HIGHEST / 4 / largest)))
