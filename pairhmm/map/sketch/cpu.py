"""The SIMD comparer: `cpu/map/`, compiled for several instruction sets and chosen at run time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.cpu import chosen_isa
from pairhmm.map.sketch.base import Comparer, Nearest
from pairhmm.map.sketch.sketches import Sketches


class CpuComparer(Comparer):
    """Tiles of queries and targets, whose differing bits are counted in vectors of a level (`levels`)."""

    def __init__(self, level: str) -> None:
        from pairhmm.native import native

        self.label = f"cpu ({level})"
        self._native, self._level = native, level

    def equal_slots(self, queries: Sketches, targets: Sketches, threads: int) -> NDArray[np.uint16]:
        equal = np.empty((len(queries), len(targets)), dtype=np.uint16)
        self._native.equal_slots(self._level, _planes(queries), _planes(targets), threads, equal)
        return equal

    def nearest(self, queries: Sketches, targets: Sketches, count: int, threads: int) -> Nearest:
        nearest = np.empty((len(queries), count), dtype=np.int32)
        equal = np.empty((len(queries), count), dtype=np.uint16)
        self._native.nearest_sketches(self._level, _planes(queries), _planes(targets), threads, nearest, equal)
        return nearest, equal


def levels() -> list[str]:
    """SIMD levels that compare sketches and run here, slowest first."""
    from pairhmm.native import native

    return [name for name, runs in native.compare_levels() if runs]


def _planes(sketches: Sketches) -> NDArray[np.uint64]:
    return np.ascontiguousarray(sketches.planes)


def make() -> CpuComparer:
    """A comparer at the level that runs here (`pairhmm.backends.cpu.chosen_isa`), or a faster kind of that level."""
    level = chosen_isa()
    return CpuComparer([name for name in levels() if name.split()[0] == level][-1])
