"""Cuts raw reads to the levels that are warped: the first events or samples behind the adapter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from pairhmm.options import Within, check_fields
from pairhmm.warp.events import LONG_WINDOW, event_ends, event_means

DEFAULTS = {"events": (50, 250), "samples": (500, 2500)}
"""Levels that are skipped, and levels that are then taken. Ten samples are about a base of R9.4 DNA."""

_SAMPLES_AN_EVENT = 32
"""Samples that are cut into events at first, for each event that is wanted. Most events are shorter."""

_LEAST_SHARE = 0.1


RawLevels = Literal["events", "samples"]


@dataclass(frozen=True, slots=True)
class CutOptions:
    """Which part of a raw read is warped."""

    levels: RawLevels = "events"  # the means of events (`pairhmm.warp.events`), or the samples themselves
    # Levels at the start of a read that are left out, for the adapter: 50 events or 500 samples without it.
    skip: Annotated[int | None, Within(0)] = None
    # Levels behind these that are taken: 250 events or 2,500 samples without it. A read that has less than a tenth of
    # them can't be told from others.
    first: Annotated[int | None, Within(2)] = None

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def begin(self) -> int:
        """Levels that are left out."""
        return DEFAULTS[self.levels][0] if self.skip is None else self.skip

    @property
    def count(self) -> int:
        """The most levels that are taken."""
        return DEFAULTS[self.levels][1] if self.first is None else self.first

    @property
    def part(self) -> tuple[int, int]:
        """The first and the last level that are taken, from 1."""
        return self.begin + 1, self.begin + self.count

    @property
    def least(self) -> int:
        """The fewest levels that are warped."""
        return max(2, round(self.count * _LEAST_SHARE))

    def cut(self, samples: NDArray[np.floating]) -> NDArray[np.float64]:
        """The levels of a raw read that are warped: float64[levels], at most `count`."""
        end = self.begin + self.count
        if self.levels == "samples":
            return samples[self.begin : end].astype(np.float64)
        size = _SAMPLES_AN_EVENT * end
        while True:
            ends = event_ends(samples[:size])
            if size >= len(samples):
                break
            # Behind the cut lies what would show whether an event ends here.
            ends = ends[ends <= size - 2 * LONG_WINDOW]
            if len(ends) >= end:
                break
            size *= 2
        return event_means(samples[:size], ends[:end])[self.begin :]
