"""Large arrays to a WebGPU device: threads fill mapped buffers while others are copied."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

COPIERS = 8
"""Threads that fill buffers."""

PIECE = 1 << 23
"""Bytes of a buffer."""

PIECES = 24
"""Buffers at most; they are made as they are needed."""

AHEAD = 4
"""Buffers that are filled at once."""


class MappedSender:
    """Sends arrays.

    Parameters
    ----------
    device : GPUDevice
    """

    def __init__(self, device: Any) -> None:
        self._device = device
        self._threads = ThreadPoolExecutor(COPIERS)
        self._free: deque[tuple[Any, Any]] = deque()  # buffers, with the promise that they are mapped
        self._made = 0

    def send(self, values: NDArray[np.uint8], target: Any) -> None:
        """Submit the copy of an array to the begin of a buffer, which has room for whole words."""
        filling: deque[tuple[int, int, Any, list[Future[None]]]] = deque()
        for at in range(0, len(values), PIECE):
            part = values[at : at + PIECE]
            piece = self._mapped()
            memory = np.frombuffer(piece._experimental_get_mapped_range(0, PIECE), np.uint8)
            share = -(-len(part) // (COPIERS // AHEAD) // 64) * 64
            begins = range(0, len(part), share)
            futures = [self._threads.submit(_copy, memory[b : b + share], part[b : b + share]) for b in begins]
            del memory
            filling.append((at, -(-len(part) // 4) * 4, piece, futures))
            if len(filling) == AHEAD:
                self._submit(target, *filling.popleft())
        while filling:
            self._submit(target, *filling.popleft())

    def _mapped(self) -> Any:
        """A buffer that is mapped."""
        if self._free and (self._made == PIECES or self._free[0][0].map_state == "mapped"):
            piece, promise = self._free.popleft()
            if promise is not None:
                promise.sync_wait()
            return piece
        self._made += 1
        return self._device.create_buffer(size=PIECE, usage="MAP_WRITE|COPY_SRC", mapped_at_creation=True)

    def _submit(self, target: Any, at: int, size: int, piece: Any, futures: list[Future[None]]) -> None:
        for future in futures:
            future.result()
        piece.unmap()
        encoder = self._device.create_command_encoder()
        encoder.copy_buffer_to_buffer(piece, 0, target, at, size)
        self._device.queue.submit([encoder.finish()])
        self._free.append((piece, piece.map_async("WRITE", 0, PIECE)))


def _copy(target: NDArray[np.uint8], values: NDArray[np.uint8]) -> None:
    target[: len(values)] = values
