"""The likeliest share of foreign reads by a profile of log-likelihoods, with its interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pairhmm.map.likelihoods import Floats

Profile = Callable[[Floats], Floats]
"""Log-likelihoods of shares."""
HALF_WIDTH = 1.92
"""The log-likelihood falls by so much from its maximum to the ends of a 95% interval."""

_COARSE = np.array(
    [0, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.045, 0.065, 0.09, 0.12, 0.16, 0.22, 0.3, 0.4, 0.5]
)
_FINE = 6
_MOST_REFINEMENTS = 4
# Points are at most this part of the interval apart at the end.
_NARROW = 0.1


@dataclass(frozen=True, slots=True)
class Peak:
    """The highest point of a profile.

    Attributes
    ----------
    share, low, high : float
        The likeliest share, and the ends of its interval.
    height : float
        Log-likelihood of that share.
    gain : float
        `height` over the log-likelihood of no foreign reads.
    """

    share: float
    low: float
    high: float
    height: float
    gain: float


def peak_of(profile: Profile, half_width: float = HALF_WIDTH) -> Peak:
    """The highest point of a profile, from 0 to 0.5, by a grid that is made finer at the top and at the ends.

    Parameters
    ----------
    profile : callable
    half_width : float
        How far the log-likelihood falls to the ends of the interval.
    """
    shares, values = _COARSE, profile(_COARSE)
    for _ in range(_MOST_REFINEMENTS):
        best = int(values.argmax())
        low, high = _last_outside(values, best, half_width)
        ends = shares[max(low, 0)], shares[min(high, len(shares) - 1)]
        if np.diff(shares[max(best - 1, 0) : best + 2]).min() <= _NARROW * (ends[1] - ends[0]):
            break
        cells = {max(best - 1, 0), min(best, len(shares) - 2), max(low, 0), min(high - 1, len(shares) - 2)}
        finer = np.concatenate([np.linspace(shares[cell], shares[cell + 1], _FINE)[1:-1] for cell in sorted(cells)])
        shares, values = np.concatenate([shares, finer]), np.concatenate([values, profile(finer)])
        order = np.argsort(shares)
        shares, values = shares[order], values[order]
    best = int(values.argmax())
    low, high = _last_outside(values, best, half_width)
    above = values - values[best] + half_width
    first = _crossing(shares, above, low) if low >= 0 else 0.0
    last = _crossing(shares, above, high - 1) if high < len(shares) else float(shares[-1])
    return Peak(float(shares[best]), first, last, float(values[best]), float(values[best] - values[0]))


def _last_outside(values: Floats, best: int, half_width: float) -> tuple[int, int]:
    """The points next to the interval, outside: -1 and the number of points where there is none."""
    is_outside = values < values[best] - half_width
    left, right = np.flatnonzero(is_outside[:best]), np.flatnonzero(is_outside[best:])
    return (int(left[-1]) if len(left) else -1), (int(right[0]) + best if len(right) else len(values))


def _crossing(shares: Floats, above: Floats, index: int) -> float:
    """Where a line through a point and the next is 0."""
    (x, following), (y, next_y) = shares[index : index + 2], above[index : index + 2]
    return float(x - y * (following - x) / (next_y - y))
