"""The protocol of comparers, nearest targets, and how GPU comparers cut their work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.engine.tools import Fallback, Tool
from pairhmm.errors import OutOfDeviceMemory
from pairhmm.map.sketch.sketches import WORD_BITS, Scheme, Sketches


class Comparer(Protocol):
    """Counts the slots that are equal in two sketches. All comparers give the same numbers: they are whole.

    A module of this folder has ``make() -> Comparer``, or ``make(device: int) -> Comparer`` if its backend has devices.
    """

    label: str  # its name in messages

    def equal_slots(self, queries: Sketches, targets: Sketches, threads: int) -> NDArray[np.uint16]:
        """Equal slots of each query with each target, shape (queries, targets), on `threads` CPU threads.

        Both have one scheme. The caller chooses blocks whose result it can hold.
        """
        ...

    def nearest(
        self, queries: Sketches, targets: Sketches, count: int, threads: int
    ) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        """The `count` targets with the most equal slots with each query, and their equal slots.

        Both have the shape (queries, count), most equal slots first; of equally many, the first target. Without enough
        targets, the last columns have the target -1 and 0 slots.
        """
        ...


COMPARERS = Tool[Comparer]("pairhmm.map.sketch", "compare sketches")

WORTH_A_DEVICE = 40_000_000_000
"""Words of 64 slots for each CPU thread from which "auto" starts a GPU. A thread of an AMD EPYC with AVX-512 compares
29 G in a second, and a GPU begins to compare after about 1.5 s."""


def words_of(pairs: int, scheme: Scheme) -> int:
    """Words of 64 slots that are compared for pairs of sketches."""
    return pairs * scheme.bits * scheme.slots // WORD_BITS


NO_TARGET = -1
"""In place of a target where there are fewer than were asked for."""

Nearest = tuple[NDArray[np.int32], NDArray[np.uint16]]
"""Targets and their equal slots, both of shape (queries, count), most equal slots first; of equally many, the first
target."""


def nearest_of_both(first: Nearest, second: Nearest) -> Nearest:
    """The nearest of two blocks of targets. All targets of the second block come after those of the first one."""
    targets = np.concatenate((first[0], second[0]), axis=1)
    equal = np.concatenate((first[1], second[1]), axis=1)
    # A missing target has 0 slots, and must sort behind targets with 0 slots.
    rank = np.where(targets == NO_TARGET, -1, equal.astype(np.int32))
    order = np.argsort(-rank, axis=1, kind="stable")[:, : first[0].shape[1]]
    return np.take_along_axis(targets, order, axis=1), np.take_along_axis(equal, order, axis=1)


def without_self(nearest: Nearest, places: NDArray[np.int32]) -> Nearest:
    """Leave one target out of each row of one more than is wanted: the query itself if it is there, else the last one.

    Places are those of the queries among the targets.
    """
    targets, equal = nearest
    rows, wanted = targets.shape
    is_self = targets == places[:, None]
    is_self[:, -1] |= ~is_self.any(axis=1)
    return targets[~is_self].reshape(rows, wanted - 1), equal[~is_self].reshape(rows, wanted - 1)


TILE = 64
"""Queries, and targets, that a workgroup or block of threads has."""

EACH = 4
"""Queries, and targets, that an invocation or thread has."""

STEP = 16
"""Words of each sketch that are in shared memory at a time."""

STRIDE = TILE // EACH + 1
"""Groups of four words in a row of shared memory. One is left empty, so that few writes meet in a bank."""

MOST_PAIRS = 1 << 25
"""Counts that are on the device at a time."""

PLACE_BITS = 18
"""Low bits of a key: how early a target is."""

MOST_TARGETS = (1 << PLACE_BITS) - EACH
"""Targets of which the nearest are looked for at once. A key of a target is never 0."""

MOST_NEAREST = 64
"""Nearest targets that a device looks for: it reads all counts once for each."""


def columns_of(targets: int) -> int:
    """Counts in a row. They are written EACH at a time, so that rows are padded."""
    return -(-targets // EACH) * EACH


def query_blocks(queries: int, targets: int, most_pairs: int) -> Iterator[tuple[int, int]]:
    """The first query, and one past the last, of blocks of whole tiles: at most `most_pairs` pairs, or a tile."""
    size = max(1, most_pairs // (TILE * columns_of(targets))) * TILE
    for first in range(0, queries, size):
        yield first, min(first + size, queries)


def unpacked(keys: NDArray[np.uint32]) -> Nearest:
    """Targets and equal slots of keys; the key 0 has no target."""
    last = (1 << PLACE_BITS) - 1
    targets = np.where(keys == 0, NO_TARGET, last - (keys & last).astype(np.int32))
    return targets.astype(np.int32), (keys >> PLACE_BITS).astype(np.uint16)


class DeviceComparer(Comparer):
    """A comparer on a GPU: cuts targets into blocks, and leaves to the CPU what the device does not do.

    A subclass has the buffers of a call, a context in which the device is used by one call, and kernels.
    """

    _slot: Any

    def __init__(self, label: str) -> None:
        self.label = label
        self._fallback = Fallback(COMPARERS, label)

    def _using(self) -> AbstractContextManager[object]:
        raise NotImplementedError

    def _equal_slots(self, queries: Sketches, targets: Sketches) -> NDArray[np.uint16]:
        raise NotImplementedError

    def _nearest(self, queries: Sketches, targets: Sketches, count: int) -> Nearest:
        raise NotImplementedError

    def equal_slots(self, queries: Sketches, targets: Sketches, threads: int) -> NDArray[np.uint16]:
        if not len(queries) or not len(targets):
            return np.empty((len(queries), len(targets)), np.uint16)
        try:
            with self._using():
                return self._equal_slots(queries, targets)
        except OutOfDeviceMemory:
            self._slot.release()
            return self._fallback.of("so many sketches at once").equal_slots(queries, targets, threads)

    def nearest(self, queries: Sketches, targets: Sketches, count: int, threads: int) -> Nearest:
        if count > MOST_NEAREST:
            cpu = self._fallback.of(f"more than {MOST_NEAREST} nearest samples")
            return cpu.nearest(queries, targets, count, threads)
        nearest: Nearest = (
            np.full((len(queries), count), NO_TARGET, np.int32),
            np.zeros((len(queries), count), np.uint16),
        )
        if not len(queries):
            return nearest
        try:
            with self._using():
                for first in range(0, len(targets), MOST_TARGETS):
                    part = targets.part(first, min(first + MOST_TARGETS, len(targets)))
                    near, equal = self._nearest(queries, part, count)
                    here = np.where(near == NO_TARGET, near, near + np.int32(first)), equal
                    nearest = nearest_of_both(nearest, here)
        except OutOfDeviceMemory:
            self._slot.release()
            return self._fallback.of("so many sketches at once").nearest(queries, targets, count, threads)
        return nearest
