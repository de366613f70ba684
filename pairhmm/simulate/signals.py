"""Random tables of levels, and the current of reads that pass a nanopore."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MEAN_LEVEL, LEVEL_SPREAD = 90.0, 12.0
"""Mean and standard deviation of the levels of k-mers, in pA, about those of R9.4."""

DEVIATIONS = 1.2, 2.5
"""The lowest and the highest standard deviation of a k-mer's current, in pA."""

SAMPLES_A_BASE = 9.0
"""Mean number of samples for which a base stays: 450 bases and 4,000 samples a second. At least two."""

_STAY_SHAPE = 2.0
_GAIN_SPREAD, _SHIFT_SPREAD = 0.03, 3.0


def draw_table(rng: np.random.Generator, k: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of the current of each k-mer, in pA: both float64[4**k]."""
    means = rng.normal(MEAN_LEVEL, LEVEL_SPREAD, 4**k)
    return means, rng.uniform(*DEVIATIONS, 4**k)


def draw_current(
    rng: np.random.Generator, means: NDArray[np.float64], deviations: NDArray[np.float64], noise: float
) -> NDArray[np.float64]:
    """The current of a read whose k-mers have these levels, in pA: float64[samples].

    Each k-mer stays for a random number of samples, and each read has a gain and a shift of its own, as pores have.
    `noise` multiplies the standard deviations.
    """
    stays = 2 + rng.gamma(_STAY_SHAPE, (SAMPLES_A_BASE - 2) / _STAY_SHAPE, len(means)).astype(np.int64)
    current = np.repeat(means, stays) + rng.normal(0, 1, int(stays.sum())) * noise * np.repeat(deviations, stays)
    return current * rng.normal(1, _GAIN_SPREAD) + rng.normal(0, _SHIFT_SPREAD)
