"""The protocol of comparers, and how much work a device is worth."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.engine.tools import Tool
from pairhmm.map.sketch.sketches import WORD_BITS, Scheme, Sketches


class Comparer(Protocol):
    """Counts the slots that are equal in two sketches. All comparers give the same numbers: they are whole.

    A module of this folder has ``make() -> Comparer``, or ``make(device: int) -> Comparer`` if its backend has devices.

    Attributes
    ----------
    label : str
        Name of the comparer in messages.
    """

    label: str

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
