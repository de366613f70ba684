"""A call's resources on a CUDA device: a stream, growing buffers on host and device, and pinned memory for results."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.buffer_cache import BufferCache
from pairhmm.backends.cuda.setup import translated
from pairhmm.backends.tiles import SCORE_BYTES, fresh_scores, team
from pairhmm.models.batch import UNSCORED, Scores
from pairhmm.native import native

SIDE_STREAMS = 8
"""Most kernels of a call that run at once. Each shape of tile is a kernel, and one with few tiles fills no device."""


class Slot:
    """A stream, and buffers by name. A buffer that is too small is allocated again, and loses its contents.

    Parameters
    ----------
    label : str
        The device's label, for messages.
    memory : int, optional
        Bytes of device memory that its buffers may take together; without it, all that is free.

    Attributes
    ----------
    stream : cupy.cuda.Stream
        The stream that its copies run on.
    """

    def __init__(self, cupy: Any, label: str, memory: int | None = None) -> None:
        self._cupy, self._label = cupy, label
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self._pinned: dict[str, NDArray[np.uint8]] = {}
        # CuPy gives up memory that nothing refers to, so that there is nothing to do for a buffer that is dropped.
        self._device: BufferCache[Any] = BufferCache(label, memory, self._allocated, lambda _: None)

    def begin_call(self) -> None:
        """Note that the next call begins. What it does not ask for may be given back."""
        self._device.begin_call()

    def pinned(self, name: str, size: int) -> NDArray[np.uint8]:
        """Pinned host memory, uint8[at least size], which the device can read and write directly."""
        memory = self._pinned.get(name)
        if memory is None or len(memory) < size:
            self._pinned.pop(name, None)
            grown = size + size // 4
            memory = np.frombuffer(self._cupy.cuda.alloc_pinned_memory(grown), np.uint8, grown)
            self._pinned[name] = memory
        return memory

    def device(self, name: str, size: int) -> Any:
        """Device memory of at least `size` bytes.

        Raises
        ------
        OutOfDeviceMemory
            If the slot's budget does not allow it, or the device has no more.
        """
        return self._device.with_room(name, size)

    def release(self) -> None:
        """Give up all device memory, once nothing uses it."""
        self.stream.synchronize()
        self._device.release()

    def _allocated(self, name: str, size: int) -> Any:
        with translated(self._label):
            return self._cupy.cuda.alloc(size)

    def zeros(self, name: str, size: int) -> int:
        """Address of at least `size` bytes of device memory, set to zero."""
        there = self.device(name, size)
        there.memset_async(0, size, self.stream)
        return int(there.ptr)

    def zero(self, name: str, first: int, size: int) -> None:
        """Set a part of the buffer of that name to zero."""
        (self._device[name] + first).memset_async(0, size, self.stream)

    def upload(self, name: str, values: NDArray[np.uint8]) -> int:
        """Address of device memory that `values` (uint8) are being copied to, by way of pinned memory."""
        host, there = self.pinned(name, len(values)), self.device(name, len(values))
        host[: len(values)] = values
        there.copy_from_host_async(host.ctypes.data, len(values), self.stream)
        return int(there.ptr)

    def download(self, name: str, host: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Fill host memory from the buffer of that name, after all earlier work of the stream; returns it."""
        self.device(name, len(host)).copy_to_host_async(host.ctypes.data, len(host), self.stream)
        self.stream.synchronize()
        return host

    def seconds(self, start: Callable[[], object], repetitions: int) -> list[float]:
        """Seconds of the stream for the work that `start` gives it, measured by events. The first time is left out."""
        times = []
        for _ in range(repetitions + 1):
            begin, end = self._cupy.cuda.Event(), self._cupy.cuda.Event()
            begin.record(self.stream)
            start()
            end.record(self.stream)
            end.synchronize()
            times.append(self._cupy.cuda.get_elapsed_time(begin, end) / 1000)
        return times[1:]

    def graph_seconds(self, start: Callable[[], object], repetitions: int) -> list[float]:
        """`seconds` of the work as one CUDA graph: the device does not wait for Python between two kernels."""
        start()  # CUDA loads a kernel when it is launched first, which a graph cannot do
        self.stream.synchronize()
        self.stream.begin_capture()
        start()
        graph = self.stream.end_capture()
        return self.seconds(lambda: graph.launch(self.stream), repetitions)


class ForwardSlot(Slot):
    """A slot that batches are sent through, to its buffer "in". It is a `Staging` of `pairhmm.backends.tiles`."""

    def __init__(self, cupy: Any, label: str, memory: int | None) -> None:
        super().__init__(cupy, label, memory)
        self.packer = native.Packer(team())
        self._lent = PinnedPool(cupy)
        self._sides = [cupy.cuda.Stream(non_blocking=True) for _ in range(SIDE_STREAMS)]

    def begin(self, size: int, behind: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        self.device("in", size)
        host = self.pinned("in", size)
        return host, host[behind:]

    def send(self, first: int, end: int) -> None:
        (self._device["in"] + first).copy_from_host_async(
            self._pinned["in"].ctypes.data + first, end - first, self.stream
        )

    @property
    def base(self) -> int:
        """Device address of the batch that was sent."""
        return int(self._device["in"].ptr)

    def scores(self, size: int) -> NDArray[np.uint8]:
        """Copy the buffer "out" to pinned memory, and return that. The slot's next call overwrites it."""
        return self.download("out", self.pinned("out", size)[:size])

    def scores_to_keep(self, pairs: int, into: Scores | None = None) -> Scores:
        """Copy scores and then their precision, which the buffer "out" has, to memory that the caller may keep.

        `into` is pinned.
        """
        log10_bytes = SCORE_BYTES * pairs
        lent = into or self._lent.lend_scores(pairs)
        host = scores_in(self.pinned("out", SCORED_BYTES * pairs), pairs) if lent is None else lent
        out, log10, precision = self.device("out", 0), host.log10, host.precision
        (out + log10_bytes).copy_to_host_async(precision.ctypes.data, pairs, self.stream)
        copied = self.stream.record()
        out.copy_to_host_async(log10.ctypes.data, log10_bytes, self.stream)
        if lent is None:
            # Made while the device computes, so that the memory pages exist when the scores arrive.
            kept = fresh_scores(pairs)
            self.stream.synchronize()
            is_any = native.copy_scores(team(), log10, precision, UNSCORED, kept.log10, kept.precision)
            return Scores(kept.log10, kept.precision, are_all_scored=not is_any)
        copied.synchronize()
        are_all_scored = bool(precision.max(initial=0) < UNSCORED)  # while the scores come
        self.stream.synchronize()
        return Scores(log10, precision, are_all_scored)

    @contextmanager
    def side_by_side(self, count: int) -> Iterator[Iterator[Any]]:
        """Streams for `count` kernels that may run at once, after this stream's earlier work and before its next."""
        if count <= 1:
            yield itertools.repeat(self.stream)
            return
        sides = self._sides[:count]
        before = self.stream.record()
        for side in sides:
            side.wait_event(before)
        yield itertools.cycle(sides)
        for side in sides:
            self.stream.wait_event(side.record())


SCORED_BYTES = SCORE_BYTES + 1
"""Bytes of a score with the code of its precision (uint8). The two are separate arrays."""

MOST_LENT = 2
"""Most buffers of a slot, so that a caller who keeps all results does not pin all of its memory."""


class _Buffer(NamedTuple):
    memory: Any
    size: int
    borrower: weakref.ref[NDArray[np.uint8]]

    @property
    def is_free(self) -> bool:
        return self.borrower() is None


class PinnedPool:
    """Pinned buffers, each of which is lent again once no array on it is left."""

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

    def lend_scores(self, pairs: int) -> Scores | None:
        """Room for the scores of so many pairs, as `lend`."""
        lent = self.lend(SCORED_BYTES * pairs)
        return None if lent is None else scores_in(lent, pairs)


def scores_in(memory: NDArray[np.uint8], pairs: int) -> Scores:
    """Scores in memory: first all of them, then the precision of each."""
    log10_bytes = SCORE_BYTES * pairs
    return Scores(memory[:log10_bytes].view(np.float64), memory[log10_bytes : log10_bytes + pairs])
