"""The nearest targets of queries, from equal slots, and the nearest of several blocks of targets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NO_TARGET = -1
"""In place of a target where there are fewer than were asked for."""

Nearest = tuple[NDArray[np.int32], NDArray[np.uint16]]
"""Targets and their equal slots, both of shape (queries, count), most equal slots first; of equally many, the first
target."""


def nearest_of(equal: NDArray[np.uint16], count: int) -> Nearest:
    """The nearest targets in a matrix of equal slots of shape (queries, targets)."""
    targets = np.argsort(-equal.astype(np.int32), axis=1, kind="stable")[:, :count]
    return _filled(targets.astype(np.int32), np.take_along_axis(equal, targets, axis=1), count)


def nearest_of_both(first: Nearest, second: Nearest) -> Nearest:
    """The nearest of two blocks of targets. All targets of the second block come after those of the first one."""
    targets = np.concatenate((first[0], second[0]), axis=1)
    equal = np.concatenate((first[1], second[1]), axis=1)
    # What is no target has 0 slots, and must stand behind the targets that have 0 slots, too.
    rank = np.where(targets == NO_TARGET, -1, equal.astype(np.int32))
    order = np.argsort(-rank, axis=1, kind="stable")[:, : first[0].shape[1]]
    return np.take_along_axis(targets, order, axis=1), np.take_along_axis(equal, order, axis=1)


def without_self(found: Nearest, own: NDArray[np.int32]) -> Nearest:
    """Leave one target out of each row: the query itself if it is there, else the last one.

    Parameters
    ----------
    found : Nearest
        Of one target more than is wanted.
    own : ndarray, shape (queries,), int32
        Each query's place among the targets.
    """
    targets, equal = found
    rows, wanted = targets.shape
    is_self = targets == own[:, None]
    is_self[:, -1] |= ~is_self.any(axis=1)
    return targets[~is_self].reshape(rows, wanted - 1), equal[~is_self].reshape(rows, wanted - 1)


def _filled(targets: NDArray[np.int32], equal: NDArray[np.uint16], count: int) -> Nearest:
    lacking = ((0, 0), (0, count - targets.shape[1]))
    return np.pad(targets, lacking, constant_values=NO_TARGET), np.pad(equal, lacking)
