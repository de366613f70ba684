"""WebGPU through wgpu: the kernels of shaders/, on any GPU that Vulkan, Metal or Direct3D 12 reaches."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm import webgpu_kernels, webgpu_setup
from pairhmm.batch import FLOAT32, SCALED_FLOAT32, PairBatch, Scores
from pairhmm.errors import OutOfDeviceMemory
from pairhmm.packed import Shape
from pairhmm.webgpu_kernels import COARSE, FINE, LONG, Variant
from pairhmm.webgpu_packed import (
    LISTED,
    LONGEST_TILE,
    RESCUERS,
    WORK,
    Packed,
    PackedPairs,
    pack,
    pack_pairs,
    strips_of,
)
from pairhmm.webgpu_setup import SUBGROUPS, TIMESTAMPS, Adapter, status, translated

__all__ = ["WebgpuBackend", "make", "status"]

log = logging.getLogger(__name__)

WIDTH = 32
"""Invocations of a workgroup: as many as a subgroup has on most GPUs, so that no lane waits for another subgroup."""

SMALLEST_BUFFER = 256
WORK_STRIDE = 256
"""Bytes between the `Work` blocks of dispatches: the alignment of dynamic offsets that every device has."""

MOST_WORKGROUPS = 65535
"""Of a dispatch in one dimension."""

SUBMIT_SECONDS = 0.05
"""A submission takes no longer, about: Windows and browsers end those that take seconds."""

STARTED_AT = -116
"""Exponent of the scores of forward.wgsl; those of forward_scaled.wgsl lie below -200."""

WAVE_SECONDS = 1e-4
"""A wave of forward_long.wgsl takes at least as long, about, whatever there is to do."""

BORDER_BYTES, SAVED_BYTES = 16, 4 * WIDTH * (2 * LONG.rows + 5)
"""Of forward_long.wgsl: a column of the row between two strips, and a strip's states between two waves."""

BORDER_SHARE = 4
"""One part in this many of a call's memory may be borders of long pairs, or their states."""

CHUNK_CELLS = {"DiscreteGPU": 8_500_000_000, "IntegratedGPU": 1_000_000_000}
SOFTWARE_CHUNK_CELLS = 100_000_000
"""Cells of a call, by the kind of adapter: of others as of an integrated GPU."""

FIRST_SPEED = {"DiscreteGPU": 2e11, "IntegratedGPU": 2e10}
SOFTWARE_SPEED = 1e8
"""Cells a second that the first call's submissions are cut for."""


class _Dispatch(NamedTuple):
    """A pipeline, its `Work` block, and its workgroups: a number, or the rescuer whose list says how many."""

    pipeline: Any
    work: NDArray[np.void]
    workgroups: int
    rescuer: int | None
    cells: int


class _Slot:
    """What one call at a time owns: buffers on both sides that grow as they must."""

    def __init__(self, device: Any, label: str, memory: int | None) -> None:
        self._device, self._label, self._memory = device, label, memory
        self._host = np.empty(0, dtype=np.uint8)
        self._buffers: dict[str, Any] = {}

    def host(self, size: int) -> NDArray[np.uint8]:
        """Host memory that batches are packed in; what it held is lost when it grows."""
        if len(self._host) < size:
            self._host = np.empty(size + size // 4, dtype=np.uint8)
        return self._host

    def buffer(self, name: str, size: int, usage: str) -> Any:
        """Device memory of at least that many bytes; what it held is lost when it grows."""
        held = self._buffers.get(name)
        if held is None or held.size < size:
            if held is not None:
                self._buffers.pop(name).destroy()
            room = max(SMALLEST_BUFFER, -(-size // SMALLEST_BUFFER) * SMALLEST_BUFFER)
            taken = sum(buffer.size for buffer in self._buffers.values()) + room
            if self._memory is not None and taken > self._memory:
                raise OutOfDeviceMemory(f"{self._label}: {taken} bytes are over the budget of a call")
            limit = self._device.limits["max-storage-buffer-binding-size"]
            if room > limit:
                raise OutOfDeviceMemory(f"{self._label}: {room} bytes are over its limit of {limit} for a buffer")
            held = self._device.create_buffer(size=room, usage=usage)
            self._buffers[name] = held
        return held

    def upload(self, name: str, values: NDArray[np.uint8], usage: str) -> None:
        self._device.queue.write_buffer(self.buffer(name, values.nbytes, f"{usage}|COPY_DST"), 0, values)

    def release(self) -> None:
        for buffer in self._buffers.values():
            buffer.destroy()
        self._buffers.clear()


class WebgpuBackend:
    """Forward on one adapter.

    Parameters
    ----------
    adapter : Adapter
    label : str
    memory : int or None
        Bytes of it that all calls together may use; as many as the device gives without it.
    shuffles : bool
        Whether lanes may hand values on by a subgroup's shuffles, where the device has them.
    """

    name = "webgpu"
    concurrency = 4
    longest_fast_read = LONGEST_TILE

    def __init__(self, adapter: Adapter, label: str, memory: int | None, *, shuffles: bool = True) -> None:
        self.label, self._memory = label, memory
        software = adapter.is_software
        others = CHUNK_CELLS["IntegratedGPU"]
        self.chunk_cells = SOFTWARE_CHUNK_CELLS if software else CHUNK_CELLS.get(adapter.kind, others)
        self.smallest_chunk_cells = self.chunk_cells
        self._speed = SOFTWARE_SPEED if software else FIRST_SPEED.get(adapter.kind, FIRST_SPEED["IntegratedGPU"])
        self._device = webgpu_setup.request_device(adapter)
        self._pipelines: dict[Variant, Any] = {}
        self._preparing = threading.Lock()
        self._layouts = [self._layout(scaled) for scaled in (False, True)]
        self._tables = self._device.create_buffer_with_data(data=webgpu_kernels.tables(), usage="STORAGE")
        self._subgroup = self._measured_subgroup() if shuffles and SUBGROUPS in self._device.features else 0
        # The last one back is the first one out: its buffers have grown already.
        self._slots: queue.LifoQueue[_Slot] = queue.LifoQueue()
        for _ in range(self.concurrency):
            self._slots.put(_Slot(self._device, label, None if memory is None else memory // self.concurrency))

    def forward(self, batch: PairBatch, skip_read: NDArray[np.bool_], threads: int) -> Scores:
        if not batch.pairs:
            return Scores(np.empty(0), np.empty(0, dtype=np.uint8))
        with self._slot() as slot:
            # One call at a time: two that prepare at once would only wait for each other's turns of the interpreter.
            with self._preparing:
                packed = self._upload(slot, batch, skip_read)
                dispatches = self._dispatches(packed, batch)
                begin = time.perf_counter()
                self._empty_lists(slot)
                self._submit(slot, dispatches, ("listed", "list"))
            with self._downloaded(slot, 8 * (packed.pairs + packed.reads)) as out:
                cells = sum(dispatch.cells for dispatch in dispatches)
                self._speed = max(1.0, cells) / (time.perf_counter() - begin)
                return _scores(batch, packed, out)

    def forward_pairs(self, batch: PairBatch, pairs: NDArray[np.int64], threads: int) -> Scores:
        """Block-scaled float32; NaN where gaps are too rare for its range, since WGSL has no float64."""
        log10 = np.full(len(pairs), np.nan)
        reads, haplotypes = batch.pair_indices(pairs)
        for part in self._parts_of_pairs(batch, reads, haplotypes):
            log10[part] = self._run_pairs(batch, reads[part], haplotypes[part])
        return Scores(log10, np.full(len(pairs), SCALED_FLOAT32, dtype=np.uint8))

    def kernel_seconds(self, batch: PairBatch, repetitions: int) -> list[float]:
        """Seconds that the kernels of `forward` take on arrays that are on the device.

        By the device's timestamps, or by the clock around the submission where it has none, which a message says.
        """
        timestamps = TIMESTAMPS in self._device.features
        if not timestamps:
            log.warning("%s has no timestamps: kernels are timed by the clock, with their submission", self.label)
        with self._slot() as slot:
            packed = self._upload(slot, batch, np.zeros(batch.reads, dtype=bool))
            dispatches = self._dispatches(packed, batch)
            queries = self._device.create_query_set(type="timestamp", count=2) if timestamps else None
            seconds = []
            for _ in range(repetitions + 1):
                begin = time.perf_counter()
                self._empty_lists(slot)
                self._submit(slot, dispatches, ("listed", "list"), queries)
                if queries is None:
                    self._device.queue.on_submitted_work_done_async().sync_wait()
                    seconds.append(time.perf_counter() - begin)
                else:
                    first, last = self._resolved(slot, queries)
                    seconds.append((last - first) * 1e-9)
            return seconds[1:]

    @contextmanager
    def _slot(self) -> Iterator[_Slot]:
        slot = self._slots.get()
        try:
            with translated(self.label):
                yield slot
        finally:
            self._slots.put(slot)

    def _upload(self, slot: _Slot, batch: PairBatch, skip_read: NDArray[np.bool_]) -> Packed:
        """Send a batch, and make room for its scores."""
        packed = pack(batch, skip_read, WIDTH, slot.host)
        slot.upload("in", slot.host(packed.size)[: -(-packed.size // 4) * 4], "STORAGE")
        slot.buffer("out", 8 * (packed.pairs + packed.reads), "STORAGE|COPY_SRC|COPY_DST")
        slot.buffer("list", 8 * packed.listed, "STORAGE")
        return packed

    def _empty_lists(self, slot: _Slot) -> None:
        listed = np.zeros(len(RESCUERS), dtype=LISTED)
        listed["workgroups"][:, 1:] = 1
        slot.upload("listed", listed.view(np.uint8), "STORAGE|INDIRECT")

    def _dispatches(self, packed: Packed, batch: PairBatch) -> list[_Dispatch]:
        """Every tier in parts that are short enough for a submission, then what rescues the pairs that they list."""
        fast = [
            self._variant(batch, "forward", tier.shape, WIDTH // RESCUERS[int(tier.work["rescuer"])].lanes)
            for tier in packed.tiers
        ]
        scaled = [self._variant(batch, "forward_scaled", RESCUERS[rescue.rescuer]) for rescue in packed.rescues]
        pipelines = self._compiled(fast + scaled)
        most = self._speed * SUBMIT_SECONDS
        dispatches = []
        for tier, pipeline in zip(packed.tiers, pipelines, strict=False):
            each = tier.cells / tier.items
            part = max(1, min(tier.items, int(most / max(1.0, each))))
            for first in range(0, tier.items, part):
                work, end = tier.work.copy(), min(first + part, tier.items)
                work["first_item"], work["end_item"] = first, end
                dispatches.append(_Dispatch(pipeline, work, end - first, None, int(each * (end - first))))
        for rescue, pipeline in zip(packed.rescues, pipelines[len(fast) :], strict=True):
            dispatches.append(_Dispatch(pipeline, rescue.work, 0, rescue.rescuer, 0))
        return dispatches

    def _variant(self, batch: PairBatch, kernel: str, shape: Shape, rescuer_reads: int = 1) -> Variant:
        shuffles, qualities = shape.lanes <= self._subgroup, batch.qualities is not None
        extension = webgpu_kernels.extension_of(batch)
        return Variant(kernel, shape, WIDTH, shuffles, qualities, extension, rescuer_reads)

    def _parts_of_pairs(
        self, batch: PairBatch, reads: NDArray[np.int64], haplotypes: NDArray[np.int64]
    ) -> Iterator[slice]:
        """Runs of pairs whose borders and saved states fit into their part of the memory."""
        limit = self._device.limits["max-storage-buffer-binding-size"]
        most = limit if self._memory is None else min(limit, self._memory // self.concurrency // BORDER_SHARE)
        each = np.diff(batch.haplotype_offset)[haplotypes] * BORDER_BYTES + strips_of(batch, reads) * SAVED_BYTES
        ends = np.cumsum(each)
        first = 0
        while first < len(reads):
            before = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, before + most, side="right")))
            yield slice(first, last)
            first = last

    def _run_pairs(
        self, batch: PairBatch, reads: NDArray[np.int64], haplotypes: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        pairs = len(reads)
        with self._slot() as slot:
            packed = pack_pairs(batch, reads, haplotypes, slot.host)
            slot.upload("in", slot.host(packed.size)[: -(-packed.size // 4) * 4], "STORAGE")
            size = 8 * pairs + 12 * packed.items
            slot.buffer("out", size, "STORAGE|COPY_SRC|COPY_DST")
            slot.buffer("border", BORDER_BYTES * packed.columns, "STORAGE")
            slot.buffer("saved", SAVED_BYTES * packed.items, "STORAGE")
            (pipeline,) = self._compiled([self._variant(batch, "forward_long", LONG)])
            lengths = np.diff(batch.read_offset)[reads] * np.diff(batch.haplotype_offset)[haplotypes]
            cells = int(lengths.sum()) // packed.waves + int(self._speed * WAVE_SECONDS)
            dispatches = []
            for wave in range(packed.waves):
                work = packed.work.copy()
                work["wave"] = wave
                dispatches.append(_Dispatch(pipeline, work, packed.items, None, cells))
            self._submit(slot, dispatches, ("border", "saved"))
            with self._downloaded(slot, size) as out:
                return _pair_scores(packed, pairs, out)

    def _submit(
        self, slot: _Slot, dispatches: Sequence[_Dispatch], last_buffers: tuple[str, str], queries: Any = None
    ) -> None:
        """Start everything, in submissions that are short enough; `queries` get the time before and after.

        `last_buffers` are those that not all kernels have.
        """
        blocks = np.zeros((max(1, len(dispatches)), WORK_STRIDE), dtype=np.uint8)
        for block, dispatch in zip(blocks, dispatches, strict=False):
            block[: WORK.itemsize] = np.frombuffer(dispatch.work.tobytes(), dtype=np.uint8)
        slot.upload("work", blocks, "UNIFORM")
        rescues = any(dispatch.rescuer is not None for dispatch in dispatches)
        groups = [self._bind_group(slot, layout, *last_buffers) for layout in self._layouts[: 1 + rescues]]
        most = self._speed * SUBMIT_SECONDS
        parts = _runs([dispatch.cells for dispatch in dispatches], most)
        for number, part in enumerate(parts):
            encoder = self._device.create_command_encoder()
            if number == 0:
                # Reads that are in no tile have zeros for scores.
                encoder.clear_buffer(slot.buffer("out", 0, ""))
            compute = encoder.begin_compute_pass(**_timing(queries, number == 0, number == len(parts) - 1))
            for index in part:
                self._record(compute, dispatches[index], groups, slot, index)
            compute.end()
            self._device.queue.submit([encoder.finish()])

    def _record(self, compute: Any, dispatch: _Dispatch, groups: Sequence[Any], slot: _Slot, index: int) -> None:
        compute.set_pipeline(dispatch.pipeline)
        compute.set_bind_group(0, groups[dispatch.rescuer is not None], [index * WORK_STRIDE])
        if dispatch.rescuer is not None:
            compute.dispatch_workgroups_indirect(slot.buffer("listed", 0, ""), LISTED.itemsize * dispatch.rescuer)
        else:
            rows = -(-dispatch.workgroups // MOST_WORKGROUPS)
            compute.dispatch_workgroups(-(-dispatch.workgroups // rows), rows)

    @contextmanager
    def _downloaded(self, slot: _Slot, size: int) -> Iterator[NDArray[np.uint32]]:
        """The first bytes of the scores, once everything before is done; gone with the context."""
        staging = slot.buffer("staging", size, "MAP_READ|COPY_DST")
        encoder = self._device.create_command_encoder()
        encoder.copy_buffer_to_buffer(slot.buffer("out", size, ""), 0, staging, 0, size)
        self._device.queue.submit([encoder.finish()])
        staging.map_async("READ_NOSYNC", 0, size).sync_wait()
        try:
            yield np.frombuffer(staging.read_mapped(0, size, copy=False), dtype=np.uint32)
        finally:
            staging.unmap()

    def _resolved(self, slot: _Slot, queries: Any) -> tuple[int, int]:
        """Nanoseconds at the beginning and the end of what was timed."""
        times = slot.buffer("times", 16, "QUERY_RESOLVE|COPY_SRC")
        encoder = self._device.create_command_encoder()
        encoder.resolve_query_set(queries, 0, 2, times, 0)
        self._device.queue.submit([encoder.finish()])
        first, last = np.frombuffer(self._device.queue.read_buffer(times, 0, 16), dtype=np.uint64)
        return int(first), int(last)

    def _layout(self, scaled: bool) -> Any:
        """What a kernel is bound to: the variables of shaders/tiles.wgsl, and the lists of pairs to rescue."""
        lists = "read-only-storage" if scaled else "storage"
        kinds = ("read-only-storage", "read-only-storage", "uniform", "storage", lists, lists)
        entries = [
            {
                "binding": binding,
                "visibility": "COMPUTE",
                "buffer": {"type": kind, "has_dynamic_offset": kind == "uniform"},
            }
            for binding, kind in enumerate(kinds)
        ]
        return self._device.create_bind_group_layout(entries=entries)

    def _bind_group(self, slot: _Slot, layout: Any, *others: str) -> Any:
        """The buffers of a slot that all kernels have, and two that some have."""
        bound = [slot.buffer("in", 0, ""), self._tables]
        bound += [slot.buffer(name, 0, "") for name in ("work", "out", *others)]
        entries = [
            {
                "binding": binding,
                "resource": {"buffer": buffer, "offset": 0, "size": WORK_STRIDE if binding == 2 else buffer.size},
            }
            for binding, buffer in enumerate(bound)
        ]
        return self._device.create_bind_group(layout=layout, entries=entries)

    def _compiled(self, variants: Sequence[Variant]) -> list[Any]:
        """Pipelines of the variants; those that are new are compiled at the same time."""
        new = [variant for variant in dict.fromkeys(variants) if variant not in self._pipelines]
        if new:
            with ThreadPoolExecutor(len(new)) as pool:
                self._pipelines.update(zip(new, pool.map(self._compile, new), strict=True))
        return [self._pipelines[variant] for variant in variants]

    def _compile(self, variant: Variant) -> Any:
        layout = self._device.create_pipeline_layout(
            bind_group_layouts=[self._layouts[variant.kernel == "forward_scaled"]]
        )
        module = self._device.create_shader_module(code=webgpu_kernels.source(variant))
        return self._device.create_compute_pipeline(
            layout=layout, compute={"module": module, "entry_point": variant.kernel}
        )

    def _measured_subgroup(self) -> int:
        """Lanes of a subgroup; 0 where they do not lie in the workgroup's order."""
        module = self._device.create_shader_module(code=webgpu_kernels.subgroups_source(WIDTH))
        pipeline = self._device.create_compute_pipeline(
            layout="auto", compute={"module": module, "entry_point": "measure"}
        )
        least = self._device.create_buffer_with_data(
            data=np.full(SMALLEST_BUFFER // 4, 0xFFFFFFFF, dtype=np.uint32), usage="STORAGE|COPY_SRC"
        )
        entries = [{"binding": 0, "resource": {"buffer": least, "offset": 0, "size": least.size}}]
        encoder = self._device.create_command_encoder()
        compute = encoder.begin_compute_pass()
        compute.set_pipeline(pipeline)
        compute.set_bind_group(
            0, self._device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
        )
        compute.dispatch_workgroups(1)
        compute.end()
        self._device.queue.submit([encoder.finish()])
        return int(np.frombuffer(self._device.queue.read_buffer(least, 0, 4), dtype=np.uint32)[0])


def _runs(cells: Sequence[int], most: float) -> list[list[int]]:
    """Indices in runs of at most that many cells, or of one."""
    runs: list[list[int]] = [[]]
    taken = 0
    for index, count in enumerate(cells):
        if runs[-1] and taken + count > most:
            runs.append([])
            taken = 0
        runs[-1].append(index)
        taken += count
    return runs


def _timing(queries: Any, is_first: bool, is_last: bool) -> dict[str, Any]:
    """What `begin_compute_pass` takes to note when the first pass begins and the last one ends."""
    if queries is None or not (is_first or is_last):
        return {}
    writes = {"query_set": queries}
    if is_first:
        writes["beginning_of_pass_write_index"] = 0
    if is_last:
        writes["end_of_pass_write_index"] = 1
    return {"timestamp_writes": writes}


def _scores(batch: PairBatch, packed: Packed, out: NDArray[np.uint32]) -> Scores:
    """Scores from the pairs' sums: log10 is taken here, in float64, and what a read's sums are relative to is added."""
    sums = out[: 2 * packed.pairs].reshape(-1, 2)
    log10, log_kept = _log10(sums), packed.log_kept
    if log_kept is None:
        log_kept = _log_kept(out[2 * packed.pairs :].reshape(-1, 2))
    widths = np.repeat(np.diff(batch.group_haplotype), np.diff(batch.group_read))
    log10 += np.repeat(log_kept, widths)
    return Scores(log10, np.where(sums[:, 1].view(np.int32) == STARTED_AT, FLOAT32, SCALED_FLOAT32).astype(np.uint8))


def _pair_scores(packed: PackedPairs, pairs: int, out: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Scores of forward_long.wgsl: NaN where a strip's rows do not fit."""
    log10 = _log10(out[: 2 * pairs].reshape(-1, 2))
    of_strips = out[2 * pairs :].reshape(-1, 3)
    fits = np.add.reduceat(of_strips[:, 2], packed.pair_item) == 0
    log_kept = packed.log_kept
    if log_kept is None:
        log_kept = np.add.reduceat(_log_kept(of_strips[:, :2]), packed.pair_item)
    log10[~fits] = np.nan
    log10 += log_kept
    return log10


def _log10(sums: NDArray[np.uint32]) -> NDArray[np.float64]:
    """log10 of sums uint32[n, 2], in float64: the bits of a float32 and its exponent of 2. NaN for zeros."""
    log10 = sums[:, 0].view(np.float32).astype(np.float64)
    log10[log10 == 0] = np.nan
    np.log10(log10, out=log10)
    log10 += sums[:, 1].view(np.int32) * np.log10(2.0)
    return log10


def _log_kept(fixed: NDArray[np.uint32]) -> NDArray[np.float64]:
    """log10 of what sums are relative to, from its two parts uint32[n, 2]."""
    coarse, fine = fixed.T
    kept: NDArray[np.float64] = coarse.view(np.int32) * 2.0**-COARSE + fine * 2.0**-FINE
    return kept


def make(device: int, memory: int | None) -> WebgpuBackend:
    label = f"webgpu:{device}"
    with webgpu_setup.starting(label):
        return WebgpuBackend(webgpu_setup.adapters()[device], label, memory)
