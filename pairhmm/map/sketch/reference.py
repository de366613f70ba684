"""The oracle: slots compared as they are defined, in NumPy. It is slow; all other comparers agree with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.sketch.base import Comparer
from pairhmm.map.sketch.nearest import nearest_of
from pairhmm.map.sketch.sketches import Sketches


class ReferenceComparer(Comparer):
    """One query after the other."""

    label = "reference"

    def equal_slots(self, queries: Sketches, targets: Sketches, threads: int) -> NDArray[np.uint16]:
        found = np.empty((len(queries), len(targets)), dtype=np.uint16)
        for row, planes in zip(found, queries.planes, strict=True):
            differs = np.bitwise_or.reduce(targets.planes ^ planes, axis=1)  # [targets, words]
            row[:] = targets.scheme.slots - np.bitwise_count(differs).sum(axis=1, dtype=np.int64)
        return found

    def nearest(
        self, queries: Sketches, targets: Sketches, count: int, threads: int
    ) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        return nearest_of(self.equal_slots(queries, targets, threads), count)


def make() -> ReferenceComparer:
    return ReferenceComparer()
