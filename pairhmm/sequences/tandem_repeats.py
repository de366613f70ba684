"""Tandem repeats of a sequence. Coordinates are 0-based half-open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LONGEST_REPEAT_UNIT = 8
"""Bases of the longest unit that counts as a tandem repeat, as in GATK."""

MOST_REPEATS = 20
"""Copies of a repeat unit beyond which nothing changes further, as in GATK."""


class Tracts(NamedTuple):
    """Tandem repeats of a sequence, by their starts: int64[tracts] each.

    `end` may lie inside a last, incomplete copy. `unit` is the bases of the unit.
    """

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    unit: NDArray[np.int64]

    def taken(self, which: NDArray[Any] | slice) -> Tracts:
        """Select repeats by an index of NumPy."""
        return Tracts(*(column[which] for column in self))

    @property
    def copies(self) -> NDArray[np.int64]:
        """Whole copies of the unit."""
        return (self.end - self.start) // self.unit


def find_tracts(codes: NDArray[np.uint8], least_copies: Sequence[int]) -> Tracts:
    """The tandem repeats of a sequence. Each is as long as it can be, and of its shortest unit.

    Parameters
    ----------
    codes : uint8[n]
    least_copies : sequence of int
        Copies that a repeat has at least, by the bases of its unit from 1 on.

    Examples
    --------
    >>> find_tracts(np.array([3, 0, 1, 0, 1, 0, 1, 2], dtype=np.uint8), (4, 3))
    Tracts(start=array([1]), end=array([7]), unit=array([2]))
    """
    by_unit = []
    for unit, least in enumerate(least_copies, start=1):
        start, end = _runs(codes[unit:] == codes[:-unit])
        end = end + unit
        kept = (end - start) // unit >= max(least, 2)
        start, end = start[kept], end[kept]
        shorter = np.zeros(len(start), dtype=bool)
        for other in range(1, unit):
            if unit % other == 0:
                shorter |= _repeats_within(codes, start, unit, other)
        by_unit.append(np.stack((start, end, np.full(len(start), unit)))[:, ~shorter])
    tracts = np.concatenate(by_unit, axis=1)
    return Tracts(*tracts[:, np.argsort(tracts[0], kind="stable")])


def _runs(flags: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Starts and ends (exclusive) of the runs of True."""
    edges = np.diff(np.concatenate(([0], flags.astype(np.int8), [0])))
    return np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)


def _repeats_within(codes: NDArray[np.uint8], start: NDArray[np.int64], unit: int, other: int) -> NDArray[np.bool_]:
    """Whether the unit at each start is itself copies of its first `other` bases."""
    same = np.ones(len(start), dtype=bool)
    for place in range(unit - other):
        same &= codes[start + place] == codes[start + place + other]
    return same
