"""The oracle: slots compared as they are defined, in NumPy. It is slow; all other comparers agree with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.sketch.base import NO_TARGET, Comparer, Nearest
from pairhmm.map.sketch.sketches import Sketches


class ReferenceComparer(Comparer):
    """One query after the other."""

    label = "reference"

    def equal_slots(self, queries: Sketches, targets: Sketches, threads: int) -> NDArray[np.uint16]:
        equal = np.empty((len(queries), len(targets)), dtype=np.uint16)
        for row, planes in zip(equal, queries.planes, strict=True):
            differs = np.bitwise_or.reduce(targets.planes ^ planes, axis=1)  # [targets, words]
            row[:] = targets.scheme.slots - np.bitwise_count(differs).sum(axis=1, dtype=np.int64)
        return equal

    def nearest(
        self, queries: Sketches, targets: Sketches, count: int, threads: int
    ) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        return nearest_of(self.equal_slots(queries, targets, threads), count)


def nearest_of(equal: NDArray[np.uint16], count: int) -> Nearest:
    """The nearest targets in a matrix of equal slots of shape (queries, targets)."""
    targets = np.argsort(-equal.astype(np.int32), axis=1, kind="stable")[:, :count]
    lacking = ((0, 0), (0, count - targets.shape[1]))
    slots = np.take_along_axis(equal, targets, axis=1)
    return np.pad(targets.astype(np.int32), lacking, constant_values=NO_TARGET), np.pad(slots, lacking)


def make() -> ReferenceComparer:
    return ReferenceComparer()
