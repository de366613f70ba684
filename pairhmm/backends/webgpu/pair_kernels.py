"""Kernels with one pair an invocation: short dispatches, strip by strip, and the device that runs them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.webgpu import setup as webgpu_setup
from pairhmm.backends.webgpu.setup import TIMESTAMPS, Adapter, grid, make_pipeline, record, translated
from pairhmm.backends.webgpu.slot import Slot
from pairhmm.backends.webgpu.templates import Field
from pairhmm.errors import DeviceLost

FULL = 1 << 17
"""Invocations that keep a device busy. Dispatches are cut by rows rather than to fewer invocations."""

MOST_OF_ONE = 1 << 26
"""Most cells of an invocation in a dispatch, if it can be cut. One computes less than 1 G a second, however few there
are, and operating systems abort submissions that take seconds."""


DISPATCH_FIELDS = (
    Field("first_pair", "u32", "of the dispatch"),
    Field("items", "u32", "invocations that have pairs"),
    Field("stride", "u32", "items that have room in the border"),
    Field("first_row", "u32", "of the dispatch: of a strip"),
    Field("end_row", "u32", "likewise, or one behind all rows"),
)
"""The first fields of the uniform block of a dispatch, for all kernels."""


class StripDispatch(NamedTuple):
    """The strips from `first_row` to `end_row` of the pairs from `begin` to `end`.

    `border` is how many words the dispatch needs for what a strip hands to the next one.
    """

    begin: int
    end: int
    first_row: int
    end_row: int
    border: int

    def params(self, first_pair: int) -> dict[str, int]:
        """The values of `DISPATCH_FIELDS`, where the pairs begin at `first_pair` of a table."""
        items = self.end - self.begin
        rows = {"first_row": self.first_row, "end_row": self.end_row}
        return {"first_pair": first_pair + self.begin, "items": items, "stride": items, **rows}


def strip_dispatches(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    strip: int,
    words: NDArray[np.int64],
    most_cells: int,
    most_words: int,
) -> Iterator[StripDispatch]:
    """Cut pairs into dispatches, in the order in which they must run.

    Parameters
    ----------
    rows, columns : ndarray
        Of each pair. Pairs that lie together should be of similar sizes.
    strip : int
        Rows of a strip.
    words : ndarray
        Words that a strip of each pair hands to the next one.
    most_cells : int
        Of a dispatch, if it can be cut.
    most_words : int
        Of a dispatch's border, if it can be cut.
    """
    strips = np.maximum(1, -(-rows // strip))
    words = np.where(strips > 1, words, 0)
    cells = np.maximum(1, strip * columns)  # of a strip
    before = np.concatenate([[0], np.cumsum(cells * strips)])
    begin = 0
    while begin < len(rows):
        end = int(np.searchsorted(before, before[begin] + most_cells, side="right")) - 1
        end = min(len(rows), max(end, begin + FULL))
        # All invocations have as much room on the border.
        while end > begin + 1 and int(words[begin:end].max()) * (end - begin) > most_words:
            end = begin + (end - begin) // 2
        here = int(strips[begin:end].max())
        border = int(words[begin:end].max()) * (end - begin)
        here_cells = cells[begin:end]
        at_once = max(1, min(most_cells // int(here_cells.sum()), MOST_OF_ONE // int(here_cells.max())))
        for first in range(0, here, at_once):
            yield StripDispatch(begin, end, first * strip, min(first + at_once, here) * strip, border)
        begin = end


SLOWER = {"DiscreteGPU": 1, "IntegratedGPU": 32, "CPU": 512}
"""By how much submissions are smaller, by the kind of adapter. An unknown kind gets the value of an integrated GPU.
Operating systems abort submissions that take seconds."""

MOST_BORDER = 1 << 28
"""Bytes that the borders of a dispatch take, unless one pair needs more."""

USED = "STORAGE|COPY_DST|COPY_SRC"
USAGES = dict.fromkeys(("given", "more", "pairs", "found", "border"), USED) | {
    "staging": "MAP_READ|COPY_DST",
    "times": "QUERY_RESOLVE|COPY_SRC",
}
"""Usage flags of the buffers of a call."""

TIME_BYTES, SECONDS_A_TICK = 8, 1e-9
"""Bytes of a timestamp, and its unit."""

BINDINGS = ("given", "pairs", "found", "border", "more")
"""Buffers from binding 1 on. Binding 0 has the parameters of a dispatch. Not all kernels have the last one."""


class PairDispatch(NamedTuple):
    """A dispatch: its variant, which `PairDevice.compile` has compiled, its parameters, invocations and bindings."""

    variant: Hashable
    params: NDArray[np.void]
    items: int
    bindings: tuple[str, ...]


class PairDevice:
    """A device with its pipelines.

    Attributes
    ----------
    slower : int
        As `SLOWER`.
    """

    def __init__(self, adapter: Adapter) -> None:
        self.handle = webgpu_setup.request_device(adapter)
        self.slower = SLOWER.get(adapter.kind, SLOWER["IntegratedGPU"])
        self._one_call = threading.Lock()
        self._pipelines: dict[Hashable, Any] = {}

    @contextmanager
    def in_use(self, label: str) -> Iterator[None]:
        """One call has the device, and its errors are ours. Later calls begin anew where the device is lost."""
        try:
            with self._one_call, translated(label):
                yield
        except DeviceLost:
            pair_device.cache_clear()
            raise

    @property
    def most_border(self) -> int:
        """`MOST_BORDER`, or less on a device that has no buffers of that size."""
        return min(MOST_BORDER, int(self.handle.limits["max-storage-buffer-binding-size"]))

    def compile(self, variants: Iterable[Hashable], source: Callable[[Any], tuple[str, str]]) -> None:
        """Compile new variants in parallel; `source` gives the text of each, and its entry point."""
        new = [variant for variant in dict.fromkeys(variants) if variant not in self._pipelines]
        if new:
            with ThreadPoolExecutor(len(new)) as pool:
                pipelines = pool.map(lambda variant: make_pipeline(self.handle, *source(variant)), new)
                self._pipelines.update(zip(new, pipelines, strict=True))

    def pipeline(self, variant: Hashable) -> Any:
        """The pipeline of a variant that `compile` has compiled."""
        return self._pipelines[variant]

    def run(self, slot: Slot, dispatches: Sequence[PairDispatch], width: int, size: int) -> NDArray[np.uint8]:
        """Submit dispatches one after the other, and return `size` bytes of "found".

        The last submission copies them, so that nothing is submitted after a long wait.
        """
        staging = slot.make_room("staging", size)
        for number, dispatch in enumerate(dispatches):
            encoder = self.handle.create_command_encoder()
            self._record(encoder, slot, dispatch, width)
            if number == len(dispatches) - 1:
                encoder.copy_buffer_to_buffer(slot["found"], 0, staging, 0, size)
            self.handle.queue.submit([encoder.finish()])
        staging.map_async("READ_NOSYNC", 0, size).sync_wait()
        try:
            return np.frombuffer(staging.read_mapped(0, size, copy=True), dtype=np.uint8)
        finally:
            staging.unmap()

    @property
    def has_clock(self) -> bool:
        """Whether the device can time its kernels."""
        return TIMESTAMPS in self.handle.features

    def kernel_seconds(self, slot: Slot, dispatches: Sequence[PairDispatch], width: int) -> float:
        """Run dispatches, and return the sum of their seconds by the device's clock."""
        queries = self.handle.create_query_set(type="timestamp", count=2 * len(dispatches))
        for number, dispatch in enumerate(dispatches):
            encoder = self.handle.create_command_encoder()
            first = {"beginning_of_pass_write_index": 2 * number, "end_of_pass_write_index": 2 * number + 1}
            self._record(encoder, slot, dispatch, width, timestamp_writes={"query_set": queries, **first})
            self.handle.queue.submit([encoder.finish()])
        size = 2 * TIME_BYTES * len(dispatches)
        times = slot.make_room("times", size)
        encoder = self.handle.create_command_encoder()
        encoder.resolve_query_set(queries, 0, 2 * len(dispatches), times, 0)
        self.handle.queue.submit([encoder.finish()])
        ticks = np.frombuffer(self.handle.queue.read_buffer(times, 0, size), dtype=np.uint64).reshape(-1, 2)
        return float((ticks[:, 1] - ticks[:, 0]).sum()) * SECONDS_A_TICK

    def _record(self, encoder: Any, slot: Slot, dispatch: PairDispatch, width: int, **writes: Any) -> None:
        """Record the pass of a dispatch."""
        bound = {1 + at: slot[name] for at, name in enumerate(dispatch.bindings)}
        bound[0] = self.handle.create_buffer_with_data(data=dispatch.params, usage="UNIFORM")
        compute = encoder.begin_compute_pass(**writes)
        workgroups = grid(-(-dispatch.items // width))
        record(self.handle, compute, self._pipelines[dispatch.variant], bound, workgroups)
        compute.end()


@cache
def pair_device(index: int) -> PairDevice:
    """The device of an adapter, which all calls share."""
    return PairDevice(webgpu_setup.adapters()[index])
