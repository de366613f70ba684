"""Cuts a nanopore's current into events: stretches of samples with one level, about one for each base.

Neighbouring windows of samples are compared by Student's t-statistic, with two lengths of windows, and an event ends
where the statistic has a high peak. The idea is that of Oxford Nanopore's event detection, as Loman, Quick and Simpson
(2015, Nature Methods 12:733) and Kovaka et al. (2021, Nature Biotechnology 39:431) use it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SHORT_WINDOW, LONG_WINDOW = 3, 6
"""Samples of a window. The short one finds short events; the long one finds small steps between long events."""

LEAST_STATISTIC = 3.5
"""The least statistic of a peak. R9.4 reads at 4,000 samples a second then have about as many events as bases."""

SPREAD_FLOOR = 0.1
"""A standard deviation added to each window's, as a share of the whole signal's: three samples can agree by chance."""

Samples = NDArray[np.floating]


def event_ends(samples: Samples) -> NDArray[np.int64]:
    """Where each event ends: int64[events], ascending. The last one ends with the samples."""
    if not len(samples):
        return np.zeros(0, dtype=np.int64)
    short, long = (_peaks(_t_statistic(samples, window), window) for window in (SHORT_WINDOW, LONG_WINDOW))
    # A step that both windows see is where the short one, which blurs less, has its peak.
    padded = np.concatenate(([-2 * LONG_WINDOW], short, [len(samples) + 2 * LONG_WINDOW]))
    behind = np.searchsorted(padded, long)
    is_seen = np.minimum(padded[behind] - long, long - padded[behind - 1]) <= SHORT_WINDOW
    return np.sort(np.concatenate((short, long[~is_seen], [len(samples)])))


def event_means(samples: Samples, ends: NDArray[np.int64]) -> NDArray[np.float64]:
    """The mean of each event's samples: float64[events]."""
    sums = np.concatenate(([0.0], np.cumsum(samples, dtype=np.float64)))[np.concatenate(([0], ends))]
    lengths = np.diff(ends, prepend=0)
    return np.diff(sums) / lengths


def _t_statistic(samples: Samples, window: int) -> NDArray[np.float64]:
    """The statistic of the `window` samples before each sample against those from it on; 0 near the ends."""
    statistic = np.zeros(len(samples))
    if len(samples) < 2 * window:
        return statistic
    # Differences from the mean: sums of squares of the levels themselves would lose the digits of small spreads.
    centred = samples.astype(np.float64) - samples.mean(dtype=np.float64)
    means = _window_sums(centred, window) / window
    variances = np.maximum(_window_sums(centred**2, window) / window - means**2, 0)
    floor = max((SPREAD_FLOOR * float(centred.std())) ** 2, np.finfo(np.float64).tiny)
    steps = np.abs(means[window:] - means[:-window])
    spread = np.sqrt((variances[window:] + variances[:-window] + floor) / window)
    statistic[window : len(samples) - window + 1] = steps / spread
    return statistic


def _peaks(statistic: NDArray[np.float64], window: int) -> NDArray[np.int64]:
    """Where the statistic is high and the largest within about half a window; of equal ones the first."""
    reach = window // 2 + 1
    padded = np.pad(statistic, reach)
    before, behind = padded[: len(statistic)].copy(), padded[reach + 1 : reach + 1 + len(statistic)].copy()
    for shift in range(1, reach):
        np.maximum(before, padded[shift : shift + len(statistic)], out=before)
        np.maximum(behind, padded[reach + 1 + shift : reach + 1 + shift + len(statistic)], out=behind)
    is_peak = (statistic >= LEAST_STATISTIC) & (statistic > before) & (statistic >= behind)
    return np.flatnonzero(is_peak)


def _window_sums(values: NDArray[np.float64], window: int) -> NDArray[np.float64]:
    """The sum of the `window` values from each on, added in one order: float64[values - window + 1]."""
    count = len(values) - window + 1
    sums = values[:count].copy()
    for shift in range(1, window):
        sums += values[shift : shift + count]
    return sums
