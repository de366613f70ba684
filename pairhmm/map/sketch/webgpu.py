"""Compares sketches on a WebGPU device, with wgpu: the text of the kernels, their parameters, and their launches."""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.webgpu import setup as webgpu_setup
from pairhmm.backends.webgpu.kernels import read
from pairhmm.backends.webgpu.pair_kernels import USAGES, PairDispatch, pair_device
from pairhmm.backends.webgpu.slot import WORD, Slot
from pairhmm.backends.webgpu.templates import Field, Record, assemble, constants
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

COMPARE_PARAMS = Record(
    "CompareParams",
    Field("first_query", "u32", "of the dispatch"),
    Field("end_query", "u32", "one past its last query"),
    Field("targets", "u32", ""),
    Field("words", "u32", "of a plane, of 32 slots each"),
    Field("stride", "u32", "of a row of counts, in groups of four"),
)

NEAREST_PARAMS = Record(
    "NearestParams",
    Field("first_query", "u32", "of the dispatch"),
    Field("queries", "u32", "of the dispatch"),
    Field("targets", "u32", ""),
    Field("stride", "u32", "of a row of counts, in groups of four"),
    Field("wanted", "u32", "keys of each query"),
)

NEAREST = 0
"""The variant that finds the nearest targets. The number of any other is the bits of the sketches that it compares."""


def source(variant: int) -> tuple[str, str]:
    """WGSL of a variant, and its entry point."""
    if variant == NEAREST:
        given = {NEAREST_PARAMS.name: NEAREST_PARAMS.declaration} | constants({"PLACE_BITS": PLACE_BITS})
        return assemble("map/nearest.wgsl", read, given, {}), "nearest"
    sizes = {"BITS": variant, "STEP": STEP, "TILE": TILE, "STRIDE": STRIDE}
    given = {COMPARE_PARAMS.name: COMPARE_PARAMS.declaration} | constants(sizes)
    return assemble("map/equal_slots.wgsl", read, given, {"EACH": EACH, "MANY_PLANES": int(variant > 1)}), "equal_slots"


MOST_WORDS = 1 << 36
"""Most words that a submission to a discrete GPU compares: what a fast one takes 30 ms for."""

COUNT_BYTES, SLOTS_A_WORD = 2, 32

QUERIES, TARGETS, FOUND, COUNTS = "given", "more", "found", "border"
"""Buffers of a call (`USAGES`)."""


class WebgpuComparer(DeviceComparer):
    """Compares on one WebGPU device."""

    def __init__(self, number: int) -> None:
        super().__init__(f"webgpu:{number}")
        self._shared = pair_device(number)
        self._slot = Slot(self._shared.handle, self.label, USAGES)

    def _using(self) -> AbstractContextManager[None]:
        return self._shared.in_use(self.label)

    def kernel_seconds(self, queries: Sketches, targets: Sketches, repetitions: int) -> list[float]:
        """Seconds that the kernel takes to count all pairs of sketches that are on the device, by the device's clock.

        A device without a clock gives none.
        """
        if not self._shared.has_clock:
            return []
        with self._using():
            self._begin(queries, targets)
            blocks = self._query_blocks(queries, targets)
            most = max(end - first for first, end in blocks)
            self._slot.make_room(FOUND, COUNT_BYTES * columns_of(len(targets)) * most)
            dispatches = [self._compare(first, end, targets, FOUND) for first, end in blocks]
            seconds = [self._shared.kernel_seconds(self._slot, dispatches, 1) for _ in range(repetitions + 1)]
        return seconds[1:]

    def _equal_slots(self, queries: Sketches, targets: Sketches) -> NDArray[np.uint16]:
        self._begin(queries, targets)
        columns = columns_of(len(targets))
        equal = np.empty((len(queries), len(targets)), np.uint16)
        for first, end in self._query_blocks(queries, targets):
            size = COUNT_BYTES * (end - first) * columns
            self._slot.make_room(FOUND, size)
            compare = self._compare(first, end, targets, FOUND)
            counts = self._shared.run(self._slot, [compare], 1, size).view(np.uint16)
            equal[first:end] = counts.reshape(end - first, columns)[:, : len(targets)]
        return equal

    def _nearest(self, queries: Sketches, targets: Sketches, count: int) -> Nearest:
        self._begin(queries, targets)
        columns = columns_of(len(targets))
        size = WORD * len(queries) * count
        self._slot.make_room(FOUND, size)
        dispatches = []
        most = 0
        for first, end in self._query_blocks(queries, targets):
            most = max(most, COUNT_BYTES * (end - first) * columns)
            params = {
                "first_query": first,
                "queries": end - first,
                "targets": len(targets),
                "stride": columns // EACH,
                "wanted": count,
            }
            dispatches += [
                self._compare(first, end, targets, COUNTS),
                PairDispatch(NEAREST, NEAREST_PARAMS.values(params), end - first, (COUNTS, FOUND)),
            ]
        self._slot.make_room(COUNTS, most)
        keys = self._shared.run(self._slot, dispatches, 1, size).view(np.uint32)
        return unpacked(keys.reshape(len(queries), count))

    def _begin(self, queries: Sketches, targets: Sketches) -> None:
        """Send sketches, and compile the kernels."""
        self._slot.begin_call()
        self._slot.upload(QUERIES, queries.planes)
        self._slot.upload(TARGETS, targets.planes)
        self._shared.compile((NEAREST, queries.scheme.bits), source)

    def _query_blocks(self, queries: Sketches, targets: Sketches) -> list[tuple[int, int]]:
        of_pair = queries.scheme.bits * queries.scheme.slots // SLOTS_A_WORD
        limit = int(self._shared.handle.limits["max-storage-buffer-binding-size"]) // COUNT_BYTES
        most = min(MOST_PAIRS, limit, MOST_WORDS // self._shared.slower // of_pair)
        return list(query_blocks(len(queries), len(targets), most))

    def _compare(self, first: int, end: int, targets: Sketches, found: str) -> PairDispatch:
        scheme, count = targets.scheme, len(targets)
        params = COMPARE_PARAMS.values(
            {
                "first_query": first,
                "end_query": end,
                "targets": count,
                "words": scheme.slots // SLOTS_A_WORD,
                "stride": columns_of(count) // EACH,
            }
        )
        tiles = -(-(end - first) // TILE) * -(-count // TILE)
        return PairDispatch(scheme.bits, params, tiles, (QUERIES, TARGETS, found))


def make(device: int = 0) -> WebgpuComparer:
    """A comparer on a WebGPU device. Raises BackendUnavailable."""
    with webgpu_setup.starting(f"webgpu:{device}"):
        return WebgpuComparer(device)
