"""The SIMD warper: `cpu/warp/`, compiled for several instruction sets and chosen at run time."""

from __future__ import annotations

import numpy as np

from pairhmm.backends.cpu import chosen_isa
from pairhmm.warp.base import SignalPairs, Warper, Warpings, WarpOptions

_NO_BAND = -1


class CpuWarper(Warper):
    """Anti-diagonals in vectors, in 16 bits where costs fit."""

    def __init__(self, level: str) -> None:
        from pairhmm.native import native

        self.label = f"cpu ({level})"
        self._native, self._level = native, level

    def warpings(self, pairs: SignalPairs, options: WarpOptions, threads: int) -> Warpings:
        count = len(pairs)
        warpings = Warpings(np.zeros(count, np.int64), np.zeros(count, np.int32), np.zeros(count, np.int32))
        self._native.warp(
            self._level,
            pairs.queries.levels,
            pairs.queries.offsets,
            pairs.targets.levels,
            pairs.targets.offsets,
            np.ascontiguousarray(pairs.query_index),
            np.ascontiguousarray(pairs.target_index),
            options.mode == "subsequence",
            _NO_BAND if options.band is None else options.band,
            threads,
            warpings.costs,
            warpings.starts,
            warpings.ends,
        )
        return warpings


def make() -> CpuWarper:
    """A warper at the level that runs here (`pairhmm.backends.cpu.chosen_isa`)."""
    return CpuWarper(chosen_isa())
