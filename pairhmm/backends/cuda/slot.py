"""What one call at a time owns on a CUDA device: a stream, and buffers on both sides that grow as they must."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import OutOfDeviceMemory

SIDE_STREAMS = 8
"""Kernels of a call that may run at once: each shape of tile is a kernel, and few tiles do not fill a device."""


class Slot:
    """A stream, and buffers by name. A buffer is allocated again where it is too small, and loses what it held.

    Parameters
    ----------
    cupy : module
    label : str
        The device's, for messages.
    memory : int, optional
        Bytes of the device that its buffers may take together; what is free without it.

    Attributes
    ----------
    stream : cupy.cuda.Stream
        What its copies are made on.
    """

    def __init__(self, cupy: Any, label: str, memory: int | None = None) -> None:
        self._cupy, self._label, self._memory = cupy, label, memory
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self._pinned: dict[str, NDArray[np.uint8]] = {}
        self._device: dict[str, tuple[Any, int]] = {}

    def pinned(self, name: str, size: int) -> NDArray[np.uint8]:
        """Host memory, uint8[at least size], that the device copies from and to by itself."""
        held = self._pinned.get(name)
        if held is None or len(held) < size:
            self._pinned.pop(name, None)
            grown = size + size // 4
            held = np.frombuffer(self._cupy.cuda.alloc_pinned_memory(grown), np.uint8, grown)
            self._pinned[name] = held
        return held

    def device(self, name: str, size: int) -> Any:
        """Device memory of at least `size` bytes.

        Raises
        ------
        OutOfDeviceMemory
            Beyond the budget.
        """
        held, room = self._device.get(name, (None, -1))
        if room < size:
            self._device.pop(name, None)
            others = sum(taken for _, taken in self._device.values())
            if self._memory is not None and others + size > self._memory:
                raise OutOfDeviceMemory(f"{self._label}: {others + size} bytes are over the budget of a call")
            held = self._cupy.cuda.alloc(size)
            self._device[name] = held, size
        return held

    def zeros(self, name: str, size: int) -> int:
        """Address of device memory that is set to zero."""
        there = self.device(name, size)
        there.memset_async(0, size, self.stream)
        return int(there.ptr)

    def download(self, name: str, host: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Fill host memory from the buffer of that name, once everything before is done; returns it."""
        self.device(name, len(host)).copy_to_host_async(host.ctypes.data, len(host), self.stream)
        self.stream.synchronize()
        return host


class ForwardSlot(Slot):
    """A slot whose buffer "in" takes batches (`pairhmm.backends.tiles.Staging`).

    Attributes
    ----------
    beside : Executor
        A thread for what can be done while arrays are copied.
    """

    def __init__(self, cupy: Any, label: str, memory: int | None) -> None:
        super().__init__(cupy, label, memory)
        self.beside = ThreadPoolExecutor(1)
        self._sides = [cupy.cuda.Stream(non_blocking=True) for _ in range(SIDE_STREAMS)]

    def begin(self, size: int) -> NDArray[np.uint8]:
        self.device("in", size)
        return self.pinned("in", size)

    def send(self, first: int, end: int) -> None:
        there, _ = self._device["in"]
        (there + first).copy_from_host_async(self._pinned["in"].ctypes.data + first, end - first, self.stream)

    @property
    def base(self) -> int:
        """Address of what was sent."""
        return int(self._device["in"][0].ptr)

    def scores(self, size: int) -> NDArray[np.uint8]:
        """Bytes of the buffer "out" in pinned memory, which the next call of this slot overwrites."""
        return self.download("out", self.pinned("out", size)[:size])

    @contextmanager
    def side_by_side(self, count: int) -> Iterator[Iterator[Any]]:
        """Streams for `count` kernels that may run at once: after what this stream did, before what it does next."""
        if count == 1:
            yield itertools.repeat(self.stream)
            return
        sides = self._sides[:count]
        before = self.stream.record()
        for side in sides:
            side.wait_event(before)
        yield itertools.cycle(sides)
        for side in sides:
            self.stream.wait_event(side.record())
