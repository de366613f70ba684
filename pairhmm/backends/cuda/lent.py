"""Pinned memory for results, which callers may keep: so scores need not be copied once more."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_LENT = 2
"""Most buffers of a slot, so that a caller who keeps all results does not pin all of its memory."""


class _Buffer(NamedTuple):
    memory: Any
    size: int
    borrower: weakref.ref[NDArray[np.uint8]]

    @property
    def is_free(self) -> bool:
        return self.borrower() is None


class LentMemory:
    """Pinned buffers, each of which is lent again once no array on it is left.

    Parameters
    ----------
    cupy : module
    """

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self._buffers: list[_Buffer] = []

    def lend(self, size: int) -> NDArray[np.uint8] | None:
        """uint8[size] of pinned memory, which nothing writes to before it and all arrays on it are gone.

        None where `MOST_LENT` buffers are in use.
        """
        free = next((buffer for buffer in self._buffers if buffer.is_free), None)
        if free is not None:
            self._buffers.remove(free)
        elif len(self._buffers) == MOST_LENT:
            return None
        if free is None or free.size < size:
            grown = size + size // 4
            free = None  # its memory goes back first
            memory = self._cupy.cuda.alloc_pinned_memory(max(1, grown))
        else:
            memory, grown = free.memory, free.size
        lent = np.frombuffer(memory, np.uint8, size)
        self._buffers.append(_Buffer(memory, grown, weakref.ref(lent)))
        return lent
