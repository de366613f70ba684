"""Compares sketches on a CUDA device: runs the kernels of `cuda/map/compare.cu` through CuPy."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.cuda import setup as cuda_setup
from pairhmm.backends.cuda import sources
from pairhmm.backends.cuda.setup import translated
from pairhmm.backends.cuda.slot import Slot
from pairhmm.map.sketch.base import (
    EACH,
    MOST_PAIRS,
    PLACE_BITS,
    STEP,
    STRIDE,
    TILE,
    DeviceComparer,
    Nearest,
    columns_of,
    query_blocks,
    unpacked,
)
from pairhmm.map.sketch.sketches import Sketches

THREADS = 256
"""Threads of a block."""

COUNT_BYTES, KEY_BYTES, SLOTS_A_WORD = 2, 4, 32

KERNELS = "equal_slots", "nearest"


def source(bits: int) -> str:
    """Text of the kernels for sketches of this many bits."""
    constants: dict[str, sources.Constant] = {
        "BITS": bits,
        "TILE": TILE,
        "THREADS": THREADS,
        "EACH": EACH,
        "STEP": STEP,
        "STRIDE": STRIDE,
        "PLACE_BITS": PLACE_BITS,
    }
    return sources.source(constants, "map/compare.cu")


class CudaComparer(DeviceComparer):
    """Compares on one CUDA device."""

    def __init__(self, device: int) -> None:
        import cupy

        self._cupy = cupy
        super().__init__(f"cuda:{device}")
        self._device = cupy.cuda.Device(device)
        self._kernels: dict[tuple[str, int], Any] = {}
        self._one_call = threading.Lock()
        with self._device:
            self._slot = Slot(cupy, self.label)

    @contextmanager
    def _using(self) -> Iterator[None]:
        with self._one_call, translated(self.label), self._device, self._slot.stream:
            yield

    def _equal_slots(self, queries: Sketches, targets: Sketches) -> NDArray[np.uint16]:
        equal = np.empty((len(queries), len(targets)), np.uint16)
        self._send(queries, targets)
        columns = columns_of(len(targets))
        for first, end in query_blocks(len(queries), len(targets), MOST_PAIRS):
            size = COUNT_BYTES * (end - first) * columns
            self._compare(queries, first, end, targets)
            counts = self._slot.download("counts", self._slot.pinned("counts", size)[:size]).view(np.uint16)
            equal[first:end] = counts.reshape(end - first, columns)[:, : len(targets)]
        return equal

    def kernel_seconds(self, queries: Sketches, targets: Sketches, repetitions: int) -> list[float]:
        """Seconds that the kernel takes to count all pairs of sketches that are on the device, measured by events."""
        with self._using():
            self._send(queries, targets)

            def start() -> None:
                for block in query_blocks(len(queries), len(targets), MOST_PAIRS):
                    self._compare(queries, *block, targets)

            seconds: list[float] = self._slot.seconds(start, repetitions)
        return seconds

    def _send(self, queries: Sketches, targets: Sketches) -> None:
        self._slot.begin_call()
        for name, sketches in (("queries", queries), ("targets", targets)):
            self._slot.upload(name, np.ascontiguousarray(sketches.planes).reshape(-1).view(np.uint8))

    def _nearest(self, queries: Sketches, targets: Sketches, count: int) -> Nearest:
        self._send(queries, targets)
        size = KEY_BYTES * len(queries) * count
        keys = self._slot.device("keys", size)
        for first, end in query_blocks(len(queries), len(targets), MOST_PAIRS):
            counts = self._compare(queries, first, end, targets)
            numbers = (first, len(targets), columns_of(len(targets)), count)
            arguments = (counts, *map(np.uint32, numbers), keys.ptr)
            self._kernel("nearest", queries.scheme.bits)((end - first,), (THREADS,), arguments)
        nearest = self._slot.download("keys", np.empty(size, np.uint8)).view(np.uint32)
        return unpacked(nearest.reshape(len(queries), count))

    def _compare(self, queries: Sketches, first: int, end: int, targets: Sketches) -> int:
        """Launch the count of a block of queries; returns the address of the counts."""
        columns = columns_of(len(targets))
        counts = int(self._slot.device("counts", COUNT_BYTES * (end - first) * columns).ptr)
        letters, others = (self._slot.device(name, 0).ptr for name in ("queries", "targets"))
        words = queries.scheme.slots // SLOTS_A_WORD
        of_targets = (np.uint32(len(targets)), np.uint32(words), np.uint32(columns))
        tiles = -(-(end - first) // TILE) * -(-len(targets) // TILE)
        arguments = (letters, np.uint32(first), np.uint32(end), others, *of_targets, counts)
        self._kernel("equal_slots", queries.scheme.bits)((tiles,), (THREADS,), arguments)
        return counts

    def _kernel(self, name: str, bits: int) -> Any:
        key = name, bits
        if key not in self._kernels:
            self._kernels[key] = sources.compiled(self._cupy, source(bits), f"map_{name}")
        return self._kernels[key]


def make(device: int = 0) -> CudaComparer:
    """A comparer on a CUDA device. Raises BackendUnavailable."""
    with cuda_setup.starting(device):
        return CudaComparer(device)
