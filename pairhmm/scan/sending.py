"""Sends large arrays to a device, through pieces of memory that the device and the host share.

Threads fill some pieces while the device copies others. The next array is begun before the last one has arrived.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.native import native
from pairhmm.process import usable_cores
from pairhmm.scan.index import PER_WORD

COPIERS = 8
"""Threads that fill pieces. They keep the memory channels busy, so more would not be faster."""

WORD = 4
"""Bytes of a word."""

Bytes = NDArray[np.uint8]


@dataclass(slots=True, eq=False)
class Sending:
    """An array on its way."""

    values: Bytes  # [values]
    target: Any  # where the values go, on the device
    # Whether the values are letters. They are packed eight to a 32-bit word, and the last word is filled with N.
    packed: bool
    # How many values have been given to threads to copy, and how many to the device.
    begun: int = 0
    passed: int = 0

    def size(self, count: int) -> int:
        """Bytes that `count` values take on the device."""
        return -(-count // PER_WORD) * WORD if self.packed else count


@dataclass(frozen=True, slots=True)
class Filling:
    """A piece that is being filled with values [first, first + count). `number` identifies the copy to the copier."""

    piece: Any
    number: int
    sending: Sending
    first: int
    count: int


class Sender(ABC):
    """Sends arrays to a device in pieces of `piece_size` bytes. At most `pieces` are made, as they are needed."""

    def __init__(self, piece_size: int, pieces: int) -> None:
        self._piece_size, self._unmade = piece_size, pieces
        self._copier = native.Copier(min(COPIERS, usable_cores()))
        self._free: deque[Any] = deque()
        self._queue: deque[Sending] = deque()  # those that are not all begun
        self._filling: deque[Filling] = deque()

    def begin(self, values: Bytes, target: Any, packed: bool = False) -> Sending:
        """Begin to fill pieces with an array. Arrays are sent in the order in which they are begun."""
        sending = Sending(values, target, packed)
        self._queue.append(sending)
        self._fill()
        return sending

    def finish(self, sending: Sending) -> None:
        """Pass an array, and all that were begun before it, to the device."""
        while sending.passed < len(sending.values):
            if not self._filling:
                self._reclaim()
                self._fill()
            filling = self._filling.popleft()
            self._copier.wait(filling.number)
            self._pass(filling)
            filling.sending.passed += filling.count
            self._fill()

    def give_up(self) -> None:
        """Drop the arrays that were begun but not finished."""
        self._queue.clear()
        while self._filling:
            filling = self._filling.popleft()
            self._copier.wait(filling.number)
            self._free.append(filling.piece)

    def _fill(self) -> None:
        while self._queue:
            sending = self._queue[0]
            most = self._piece_size * (PER_WORD // WORD if sending.packed else 1)
            count = min(most, len(sending.values) - sending.begun)
            if count == 0:
                self._queue.popleft()
                continue
            piece = self._take()
            if piece is None:
                return
            values = sending.values[sending.begun : sending.begun + count]
            number = self._copier.begin(values, self._memory(piece), sending.packed)
            self._filling.append(Filling(piece, number, sending, sending.begun, count))
            sending.begun += count

    def _take(self) -> Any:
        """A free piece, or None where all are in use."""
        if not self._free and self._unmade:
            self._unmade -= 1
            return self._make()
        return self._free.popleft() if self._free else None

    @abstractmethod
    def _make(self) -> Any:
        """Make a new piece."""

    @abstractmethod
    def _memory(self, piece: Any) -> Bytes:
        """The filled bytes of a piece."""

    @abstractmethod
    def _pass(self, filling: Filling) -> None:
        """Let the device copy a piece that is full."""

    @abstractmethod
    def _reclaim(self) -> None:
        """Free at least one of the pieces that the device has."""
