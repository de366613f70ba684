"""Runs kernels on a WebGPU device: pipelines, submissions and results. It does not depend on what is computed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.webgpu import kernels as webgpu_kernels
from pairhmm.backends.webgpu.kernels import KernelVariant
from pairhmm.backends.webgpu.long_pairs import LONG, LONGEST_SEGMENT, SHORTEST_SEGMENT, workgroup_bytes
from pairhmm.backends.webgpu.rows import tables
from pairhmm.backends.webgpu.setup import SUBGROUPS, Adapter, grid, make_pipeline, record, request_device, wait
from pairhmm.backends.webgpu.slot import SMALLEST_BUFFER, BatchSlot

WIDTH = 32
"""Invocations of a workgroup. Most GPUs have subgroups of this size, so no lane waits for another subgroup."""

WORK_STRIDE = 512
"""Bytes between the `Work` blocks of dispatches. Every device accepts dynamic offsets at multiples of 256."""

MOST_DISPATCHES = 64
"""Most dispatches of a submission. The device works on one submission while the next is recorded."""

POLL_SECONDS = 1e-4
"""Seconds between two checks whether the device is done, of the thread that checks it for all calls."""

LOOK_SECONDS = 0.02
"""Seconds for which a call that is alone checks that itself, all the time. To be woken by that thread takes longer."""


class Dispatch(NamedTuple):
    """A dispatch: its pipeline, `Work` block, workgroups, whether it rescues listed pairs, and cells."""

    pipeline: Any
    work: NDArray[np.void]
    workgroups: int
    rescues: bool
    cells: int


class Runtime:
    """A device with its pipelines.

    Parameters
    ----------
    shuffles : bool
        Whether lanes may hand values on by subgroup shuffles, if the device has them.

    Attributes
    ----------
    subgroup : int
        Lanes of a subgroup; 0 if lanes may not shuffle, or do not lie in the workgroup's order.
    """

    def __init__(self, adapter: Adapter, shuffles: bool) -> None:
        self.device = request_device(adapter)
        _poll_briefly(self.device)
        self._layouts = [self._layout(*kinds) for kinds in (("storage",) * 3, ("storage", "read-only-storage"))]
        self._pipelines: dict[KernelVariant, Any] = {}
        self._tables = self.device.create_buffer_with_data(data=tables(), usage="STORAGE")
        self.subgroup = self._measured_subgroup() if shuffles and SUBGROUPS in self.device.features else 0

    @property
    def segment(self) -> int:
        """Lanes of a segment of forward/long.wgsl. Where few lanes shuffle or memory is short, all of a strip."""
        shuffling = min(self.subgroup, LONGEST_SEGMENT)
        if shuffling < SHORTEST_SEGMENT:
            return LONG.lanes
        fits = workgroup_bytes(shuffling) <= self.device.limits["max-compute-workgroup-storage-size"]
        return shuffling if fits else LONG.lanes

    def compiled(self, variants: Sequence[KernelVariant]) -> list[Any]:
        """Pipelines of the variants. New ones are compiled in parallel."""
        new = [variant for variant in dict.fromkeys(variants) if variant not in self._pipelines]
        if new:
            with ThreadPoolExecutor(len(new)) as pool:
                self._pipelines.update(zip(new, pool.map(self._compile, new), strict=True))
        return [self._pipelines[variant] for variant in variants]

    def submit(
        self,
        slot: BatchSlot,
        dispatches: Sequence[Dispatch],
        last_buffers: tuple[str, str, str],
        most_cells: float,
        *,
        empty: Mapping[str, int],
        queries: Any = None,
        download: int = 0,
    ) -> None:
        """Submit dispatches, which run one after the other on buffers that are already filled.

        Parameters
        ----------
        last_buffers : (str, str, str)
            Names of the slot's buffers at bindings 4 to 6, which differ between kernels. Those that rescue take the
            first two.
        most_cells : float
            Most cells of a submission, unless it is a single dispatch.
        empty : mapping
            Buffers of the slot to clear first, and how many bytes of each.
        queries : GPUQuerySet, optional
            Receives the times before and after.
        download : int
            Bytes of "out" that `downloaded` returns. The last submission copies them, so that nothing is submitted
            after a long wait: wgpu ends the process if it submits to a device that it finds lost.
        """
        blocks = b"".join(dispatch.work.tobytes().ljust(WORK_STRIDE, b"\0") for dispatch in dispatches)
        slot.send_work(blocks or bytes(WORK_STRIDE))
        if download:
            slot.make_room("staging", download)
        groups = [self._bind_group(slot, self._layouts[0], *last_buffers)]
        if any(dispatch.rescues for dispatch in dispatches):
            groups.append(self._bind_group(slot, self._layouts[1], *last_buffers[:2]))
        parts = _runs([dispatch.cells for dispatch in dispatches], most_cells)
        for number, part in enumerate(parts):
            encoder = self.device.create_command_encoder()
            if number == 0:
                slot.record_upload(encoder)
                for name, bytes_ in empty.items():
                    encoder.clear_buffer(slot[name], 0, bytes_)
            compute = encoder.begin_compute_pass(**_timing(queries, number == 0, number == len(parts) - 1))
            for index in part:
                _record(compute, dispatches[index], groups, index)
            compute.end()
            if download and number == len(parts) - 1:
                encoder.copy_buffer_to_buffer(slot["out"], 0, slot["staging"], 0, download)
            commands = encoder.finish()
            slot.end_upload()
            self.device.queue.submit([commands])

    @contextmanager
    def downloaded(self, slot: BatchSlot, size: int, *, alone: bool = False) -> Iterator[NDArray[np.uint32]]:
        """Wait for the last submission, and give the bytes that it copied. They are valid within the context only.

        A call that is `alone` looks for its end all the time. Others would have to wait for the interpreter.
        """
        staging = slot["staging"]
        slot.map_uploads()
        promise = staging.map_async("READ_NOSYNC", 0, size)
        if alone:
            self._look_for(promise)
        promise.sync_wait()
        try:
            yield np.frombuffer(staging.read_mapped(0, size, copy=False), dtype=np.uint32)
        finally:
            staging.unmap()

    def _look_for(self, promise: Any) -> None:
        """Poll the device until a promise is kept, for a while at most."""
        poll = getattr(self.device, "_poll", None)
        end = time.perf_counter() + LOOK_SECONDS
        # Another version of wgpu may have neither: then its thread wakes the caller.
        while poll is not None and getattr(promise, "_state", None) == "pending" and time.perf_counter() < end:
            poll()

    def wait(self, slot: BatchSlot) -> None:
        """Block until everything that was submitted is done."""
        wait(self.device, slot["out"])

    def seconds(self, slot: BatchSlot, queries: Any) -> float:
        """Seconds between the two times of a query set, which the last submission wrote."""
        times = slot.make_room("times", 16)
        encoder = self.device.create_command_encoder()
        encoder.resolve_query_set(queries, 0, 2, times, 0)
        self.device.queue.submit([encoder.finish()])
        first, last = np.frombuffer(self.device.queue.read_buffer(times, 0, 16), dtype=np.uint64)
        return (int(last) - int(first)) * 1e-9

    def _layout(self, *others: str) -> Any:
        """The bindings of a kernel: the buffers that all kernels have, and others of these buffer types."""
        kinds = ("read-only-storage", "read-only-storage", "uniform", "storage", *others)
        entries = [
            {
                "binding": binding,
                "visibility": "COMPUTE",
                "buffer": {"type": kind, "has_dynamic_offset": kind == "uniform"},
            }
            for binding, kind in enumerate(kinds)
        ]
        return self.device.create_bind_group_layout(entries=entries)

    def _bind_group(self, slot: BatchSlot, layout: Any, *others: str) -> Any:
        """Bind group of the slot's buffers that all kernels have, and of others by name."""
        known = slot.bind_groups.get((layout, others))
        if known is not None:
            return known
        bound = [slot["in"], self._tables, *(slot[name] for name in ("work", "out", *others))]
        entries = [
            {
                "binding": binding,
                "resource": {"buffer": buffer, "offset": 0, "size": WORK_STRIDE if binding == 2 else buffer.size},
            }
            for binding, buffer in enumerate(bound)
        ]
        group = self.device.create_bind_group(layout=layout, entries=entries)
        slot.bind_groups[layout, others] = group
        return group

    def _compile(self, variant: KernelVariant) -> Any:
        layout = self._layouts[variant.kernel == "forward_scaled"]
        return self.device.create_compute_pipeline(
            layout=self.device.create_pipeline_layout(bind_group_layouts=[layout]),
            compute={
                "module": self.device.create_shader_module(code=webgpu_kernels.source(variant)),
                "entry_point": variant.kernel,
            },
        )

    def _measured_subgroup(self) -> int:
        pipeline = make_pipeline(self.device, webgpu_kernels.subgroups_source(WIDTH), "measure")
        least = self.device.create_buffer_with_data(
            data=np.full(SMALLEST_BUFFER // 4, 0xFFFFFFFF, dtype=np.uint32), usage="STORAGE|COPY_SRC"
        )
        encoder = self.device.create_command_encoder()
        compute = encoder.begin_compute_pass()
        record(self.device, compute, pipeline, {0: least}, grid(1))
        compute.end()
        self.device.queue.submit([encoder.finish()])
        return int(np.frombuffer(self.device.queue.read_buffer(least, 0, 4), dtype=np.uint32)[0])


def _poll_briefly(device: Any) -> None:
    """Make wgpu's thread poll at short intervals. While it waits for the device, no other thread can submit."""
    poller = getattr(device, "_poller", None)
    poll = getattr(poller, "_poll_func", None)
    if poller is None or poll is None:
        return  # Another version of wgpu, whose thread waits in its own way: slower, but correct.

    def look(block: bool) -> None:
        poll(False)
        if block:
            time.sleep(POLL_SECONDS)

    poller._poll_func = look


def _record(compute: Any, dispatch: Dispatch, groups: Sequence[Any], index: int) -> None:
    """Record dispatch number `index` of a call. One that rescues takes the second bind group."""
    compute.set_pipeline(dispatch.pipeline)
    compute.set_bind_group(0, groups[dispatch.rescues], [index * WORK_STRIDE])
    compute.dispatch_workgroups(*grid(dispatch.workgroups))


def _runs(cells: Sequence[int], most: float) -> list[list[int]]:
    """Cut dispatches into runs of at most `most` cells (or of one dispatch), and of at most `MOST_DISPATCHES`."""
    runs: list[list[int]] = [[]]
    taken = 0
    for index, count in enumerate(cells):
        if runs[-1] and (taken + count > most or len(runs[-1]) == MOST_DISPATCHES):
            runs.append([])
            taken = 0
        runs[-1].append(index)
        taken += count
    return runs


def _timing(queries: Any, is_first: bool, is_last: bool) -> dict[str, Any]:
    """Arguments with which `begin_compute_pass` writes the times when the first pass begins and the last one ends."""
    if queries is None or not (is_first or is_last):
        return {}
    writes = {"query_set": queries}
    if is_first:
        writes["beginning_of_pass_write_index"] = 0
    if is_last:
        writes["end_of_pass_write_index"] = 1
    return {"timestamp_writes": writes}
