"""Sends large arrays to a CUDA device, through pinned memory."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from pairhmm.scan.sending import Bytes, Filling, Sender

PIECE, PIECES = 1 << 23, 16
"""Bytes of a piece of pinned memory, and the number of pieces."""


class PinnedSender(Sender):
    """Sends arrays to device memory, on `stream`.

    Parameters
    ----------
    cupy : module
    """

    def __init__(self, cupy: Any) -> None:
        super().__init__(PIECE, PIECES)
        self._cupy = cupy
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self._sent: deque[tuple[Bytes, Any]] = deque()  # pieces, with the event after which they are free

    def _take(self) -> Any:
        while self._sent and self._sent[0][1].done:
            self._free.append(self._sent.popleft())
        return super()._take()

    def _make(self) -> tuple[Bytes, Any]:
        memory = np.frombuffer(self._cupy.cuda.alloc_pinned_memory(PIECE), np.uint8, PIECE)
        return memory, self._cupy.cuda.Event(disable_timing=True)

    def _memory(self, piece: tuple[Bytes, Any]) -> Bytes:
        return piece[0]

    def _pass(self, filling: Filling) -> None:
        memory, sent = filling.piece
        target = filling.sending.target + filling.sending.size(filling.first)
        target.copy_from_host_async(memory.ctypes.data, filling.sending.size(filling.count), self.stream)
        sent.record(self.stream)
        self._sent.append(filling.piece)

    def _reclaim(self) -> None:
        self._sent[0][1].synchronize()
        self._free.append(self._sent.popleft())
