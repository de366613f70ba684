"""The WebGPU backend: the kernels of shaders/forward/ on any GPU that Vulkan, Metal or Direct3D 12 reaches."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends import tiles
from pairhmm.backends.base import Backend
from pairhmm.backends.tiles import Shape, fresh_scores, rouse_team, runs_within
from pairhmm.backends.webgpu import kernels as webgpu_kernels
from pairhmm.backends.webgpu import setup as webgpu_setup
from pairhmm.backends.webgpu.kernels import (
    FLAGS_PART,
    LONG_TREE_PART,
    PART,
    SOFTWARE_PART,
    TREE_PART,
    KernelVariant,
)
from pairhmm.backends.webgpu.layout import LONGEST_TILE, Packed, Rescue, Tier, pack, put_scores, tree_shapes
from pairhmm.backends.webgpu.long_pairs import (
    LONG,
    STEPS,
    PackedPairs,
    border_words,
    distance,
    half_columns,
    halves_of,
    in_blocks,
    lag,
    pack_pairs,
    pair_scores,
    rescale_steps,
    strip_entries,
    strips_of,
)
from pairhmm.backends.webgpu.runtime import WIDTH, Dispatch, Runtime
from pairhmm.backends.webgpu.setup import TIMESTAMPS, Adapter, translated
from pairhmm.backends.webgpu.slot import BatchSlot
from pairhmm.backends.webgpu.work import HAPLOTYPES_OF_TREES, RESCUERS, STRIP_RESULT, UNFINISHED, UNORDERED
from pairhmm.errors import OutOfDeviceMemory, PairhmmError
from pairhmm.models.batch import SCALED_FLOAT32, PairBatch, Scores
from pairhmm.models.profile import with_one_gap_model

log = logging.getLogger(__name__)

SUBMIT_SECONDS = 0.05
"""Target time of a submission, in seconds. Windows and browsers abort submissions that take seconds."""

LEAST_SHARE = 0.1
"""Share of a submission that a call must fill before its measured speed is used. Smaller calls measure latency."""

STEP_SECONDS = 4e-7
"""Approximate longest time of a step of forward/long.wgsl, in seconds, on a device that has room for all strips."""

POLLS = 1 << 18
"""How many times a strip polls for values of the strip above before it gives up.

It then assumes that workgroups do not run side by side. This many polls take about 0.2 s on a GPU, several times as
long as a dispatch. On a software adapter, which has few threads, strips always take turns and never poll.
"""

CHUNK_CELLS = {"DiscreteGPU": 17_000_000_000, "IntegratedGPU": 1_000_000_000, "CPU": 100_000_000}
"""Most cells of a call, by the kind of adapter. An unknown kind gets the value of an integrated GPU."""

FIRST_SPEED = {"DiscreteGPU": 2e11, "IntegratedGPU": 2e10, "CPU": 1e8}
"""Assumed speed in cells per second, by the kind of adapter. It sizes submissions until a call has been measured."""

ENTRY_BYTES, WORD_BYTES = 16, 4
"""Bytes of an entry that a strip's lane saves (`lane_entries`), and of a word."""

SHARE = 4
"""Divisor of a call's memory: 1 / SHARE of it may hold borders and states of long pairs, or columns between strips."""

LISTS, BORDERS = ("listed", "list", "scratch"), ("border", "strips", "scratch")
"""Names of the buffers at bindings 4 to 6, for the kernels of tiles and for those of long pairs, which need no scratch
memory."""


COUNTERS_AT = len(RESCUERS)
"""Word of the buffer "listed" at which the counters of dispatches begin, behind those of the lists."""

TREES = "forward_trees"
"""The kernel of tiers whose haplotypes are in trees."""


class WebgpuBackend(Backend):
    """Forward on one adapter.

    Parameters
    ----------
    memory : int or None
        Bytes of device memory that all calls together may use; None for no limit.
    shuffles : bool
        Whether lanes may hand values on by subgroup shuffles, if the device has them.
    """

    name = "webgpu"
    concurrency = 4
    longest_fast_read = LONGEST_TILE
    times_kernels = True

    def __init__(self, adapter: Adapter, label: str, memory: int | None, *, shuffles: bool = True) -> None:
        self.label, self._memory = label, memory
        self.chunk_cells = CHUNK_CELLS.get(adapter.kind, CHUNK_CELLS["IntegratedGPU"])
        self.first_chunk_cells = self.chunk_cells // 2
        self._speed = FIRST_SPEED.get(adapter.kind, FIRST_SPEED["IntegratedGPU"])
        self._is_software = adapter.is_software
        self._part = SOFTWARE_PART if adapter.is_software else PART
        self._polls = 0 if adapter.is_software else POLLS
        self._runtime = Runtime(adapter, shuffles)
        self._preparing = threading.Lock()
        # The slot returned last is taken first, because its buffers have already grown.
        self._slots: queue.LifoQueue[BatchSlot] = queue.LifoQueue()
        for _ in range(self.concurrency):
            self._slots.put(
                BatchSlot(self._runtime.device, label, None if memory is None else memory // self.concurrency)
            )

    def forward(self, batch: PairBatch, skip_read: NDArray[np.bool_], threads: int) -> Scores:
        if not batch.pairs:
            return Scores.none(0)
        batch = with_one_gap_model(batch)
        with self._slot() as slot:
            # One call prepares at a time: two at once would only take turns in the interpreter.
            with self._preparing:
                rouse_team(batch)
                packed, dispatches = self._upload(slot, batch, skip_read)
                size = packed.out_bytes
                begin = time.perf_counter()
                # "out" is cleared first, so that pairs of reads in no tile have zeros as scores.
                empty = {"out": size, "listed": WORD_BYTES * (COUNTERS_AT + len(dispatches))}
                self._runtime.submit(slot, dispatches, LISTS, self._submit_cells, empty=empty, download=size)
            # Allocated while the device computes, so that the memory pages exist when the scores arrive.
            scores = fresh_scores(packed.pairs)
            with self._runtime.downloaded(slot, size, alone=self._is_alone) as out:
                self._note_speed(sum(dispatch.cells for dispatch in dispatches), time.perf_counter() - begin)
                if not out[packed.unordered_at]:
                    return put_scores(batch, packed, out, scores)
        self._stop_shuffling()
        return self.forward(batch, skip_read, threads)

    def forward_pairs(self, batch: PairBatch, pairs: NDArray[np.int64], threads: int) -> Scores:
        """Block-scaled float32; NaN where gaps are too rare for its range, since WGSL has no float64.

        The CPU scores pairs with flags.
        """
        if batch.flags is not None:
            return Scores.none(len(pairs))
        batch = with_one_gap_model(batch)
        scores = Scores.none(len(pairs))
        reads, haplotypes = batch.pair_indices(pairs)
        for part in self._parts_of_pairs(batch, reads, haplotypes):
            scores.log10[part] = self._run_pairs(batch, reads[part], haplotypes[part])
        scores.precision[~np.isnan(scores.log10)] = SCALED_FLOAT32
        return scores

    def computed_cells(self, batch: PairBatch) -> int:
        if batch.flags is not None:
            return batch.cells
        return tiles.computed_cells(batch, tree_shapes(WIDTH, batch.qualities is not None), HAPLOTYPES_OF_TREES)

    def kernel_seconds(self, batch: PairBatch, repetitions: int) -> list[float]:
        """Seconds that the kernels of `forward` take on arrays that are already on the device.

        They are measured by the device's timestamps. A device without timestamps is timed by the host's clock around
        the submission, and a warning says so.
        """
        device = self._runtime.device
        batch = with_one_gap_model(batch)
        timestamps = TIMESTAMPS in device.features
        if not timestamps:
            log.warning("%s has no timestamps: kernels are timed by the clock, with their submission", self.label)
        with self._slot() as slot:
            packed, dispatches = self._upload(slot, batch, np.zeros(batch.reads, dtype=bool))
            empty = {"out": packed.out_bytes, "listed": WORD_BYTES * (COUNTERS_AT + len(dispatches))}
            queries = device.create_query_set(type="timestamp", count=2) if timestamps else None
            seconds = []
            for _ in range(repetitions + 1):
                begin = time.perf_counter()
                self._runtime.submit(slot, dispatches, LISTS, self._submit_cells, empty=empty, queries=queries)
                self._runtime.wait(slot)
                elapsed = time.perf_counter() - begin
                seconds.append(elapsed if queries is None else self._runtime.seconds(slot, queries))
                self._note_speed(sum(dispatch.cells for dispatch in dispatches), seconds[-1])
            return seconds[1:]

    @contextmanager
    def _slot(self) -> Iterator[BatchSlot]:
        slot = self._slots.get()
        slot.begin_call()
        try:
            with translated(self.label):
                yield slot
        except OutOfDeviceMemory:
            # The next call needs less of some buffers, and may need as much of others.
            slot.release()
            raise
        finally:
            self._slots.put(slot)

    @property
    def _is_alone(self) -> bool:
        """Whether no other call has a slot, so that nothing else is to be done meanwhile. llvmpipe needs the cores."""
        return not self._is_software and self._slots.qsize() == self.concurrency - 1

    @property
    def _submit_cells(self) -> float:
        """Most cells of a submission, at the last measured speed."""
        return self._speed * SUBMIT_SECONDS

    @property
    def _share(self) -> int:
        """Bytes that a call's buffer may take, if the call can manage with that little."""
        limit = int(self._runtime.device.limits["max-storage-buffer-binding-size"])
        return limit if self._memory is None else min(limit, self._memory // self.concurrency // SHARE)

    def _note_speed(self, cells: int, seconds: float) -> None:
        """Update the measured speed. Calls of few cells are ignored: they measure the device's latency."""
        if cells > self._submit_cells * LEAST_SHARE:
            self._speed = cells / seconds

    def _upload(self, slot: BatchSlot, batch: PairBatch, skip_read: NDArray[np.bool_]) -> tuple[Packed, list[Dispatch]]:
        """Send a batch, and prepare its dispatches while the last bytes are written."""
        dispatches: list[Dispatch] = []

        def prepare(packed: Packed) -> None:
            slot.make_room("out", packed.out_bytes)
            slot.make_room("list", packed.list_bytes)
            slot.make_room("scratch", packed.scratch_bytes)
            dispatches.extend(self._dispatches(slot, packed, batch))

        return pack(batch, skip_read, WIDTH, self._runtime.subgroup, self._share, slot, prepare), dispatches

    def _dispatches(self, slot: BatchSlot, packed: Packed, batch: PairBatch) -> list[Dispatch]:
        """The dispatches of all tiers, each short enough for a submission, then those that rescue the listed pairs."""
        model = webgpu_kernels.rows_of(batch), webgpu_kernels.extension_of(batch)
        tree_part = self._tree_part(packed)
        fast = [self._variant(_kernel_of(tier), tier.shape, model, tree_part) for tier in packed.tiers]
        scaled = [self._rescue_variant(rescue, model) for rescue in packed.rescues]
        rows = [self._rows_variant(model)] if any(tier.walkers for tier in packed.tiers) else []
        pipelines = self._runtime.compiled(fast + scaled + rows)
        make_rows = pipelines[-1] if rows else None
        dispatches: list[Dispatch] = []
        for tier, pipeline in zip(packed.tiers, pipelines, strict=False):
            each = tier.cells / tier.items
            for work in tier.parts(int(self._submit_cells / max(1.0, each))):
                items = int(work["end_item"] - work["first_item"])
                cells = int(each * items)
                if tier.walkers:
                    work["counter"], work["walkers"] = COUNTERS_AT + len(dispatches), min(items, tier.walkers)
                    dispatches.append(Dispatch(make_rows, work, items, False, 0))
                    items = int(work["walkers"])
                dispatches.append(Dispatch(pipeline, work, items, False, cells))
        for rescue, pipeline in zip(packed.rescues, pipelines[len(fast) :], strict=False):
            rescue.work["counter"] = COUNTERS_AT + len(dispatches)
            dispatches.append(Dispatch(pipeline, rescue.work, rescue.workgroups, True, 0))
        slot.make_room("listed", WORD_BYTES * (COUNTERS_AT + len(dispatches)))
        return dispatches

    def _tree_part(self, packed: Packed) -> int:
        """`KernelVariant.part` of the kernel that walks trees. It changes no bit of a score."""
        if self._is_software:
            return SOFTWARE_PART
        return LONG_TREE_PART if packed.has_long_runs else TREE_PART

    def _variant(self, kernel: str, shape: Shape, model: tuple[str, float | None], tree_part: int) -> KernelVariant:
        shuffles = shape.lanes <= self._runtime.subgroup
        if kernel == TREES:
            extension = self._tree_extension(model)
            rows = "qualities" if model[0] == "qualities" else "folded"  # with masks or without
            return KernelVariant(kernel, Shape(1, shape.rows), WIDTH, shuffles, rows, extension, part=tree_part)
        part = FLAGS_PART if model[0] == "flags" else self._part
        return KernelVariant(kernel, shape, WIDTH, shuffles, *model, part=part)

    def _rescue_variant(self, rescue: Rescue, model: tuple[str, float | None]) -> KernelVariant:
        shuffles = rescue.shape.lanes <= self._runtime.subgroup
        rows = rescue.shape.rows
        return KernelVariant("forward_scaled", Shape(1, rows), WIDTH, shuffles, *model, part=rescale_steps(rows))

    def _rows_variant(self, model: tuple[str, float | None]) -> KernelVariant:
        """The variant of forward/tree_rows.wgsl. forward/trees.wgsl reads only the rows that it made."""
        extension = None if self._tree_extension(model) is None else 0.0
        return KernelVariant("forward_tree_rows", Shape(1, 1), WIDTH, False, model[0], extension)

    def _tree_extension(self, model: tuple[str, float | None]) -> float | None:
        """A software adapter has one text for every extension, because it compiles slowly."""
        return None if self._is_software else model[1]

    def _long_variants(self, batch: PairBatch, segment: int) -> list[KernelVariant]:
        """Variants of the kernels of long pairs: of rows, of strips, and of the join."""
        extension = webgpu_kernels.extension_of(batch)
        shuffles = segment <= self._runtime.subgroup
        rows = KernelVariant(
            "forward_long_rows", LONG, LONG.lanes, False, webgpu_kernels.rows_of(batch), None, segment=segment
        )
        strips = KernelVariant("forward_long", LONG, LONG.lanes, shuffles, "folded", extension, segment=segment)
        join = KernelVariant("forward_join", LONG, LONG.lanes, False, "folded", None, segment=segment)
        return [rows, strips, join]

    def _parts_of_pairs(
        self, batch: PairBatch, reads: NDArray[np.int64], haplotypes: NDArray[np.int64]
    ) -> Iterator[slice]:
        """Runs of pairs whose borders and saved states fit into their share of the memory."""
        strips = strips_of(batch, reads)
        letters = np.diff(batch.haplotype_offset)[haplotypes]
        words = border_words(half_columns(letters)).sum(axis=1)
        states = halves_of(letters) * _strip_bytes(self._runtime.segment) * strips
        return runs_within(states + WORD_BYTES * words * (strips - 1), self._share)

    def _run_pairs(
        self, batch: PairBatch, reads: NDArray[np.int64], haplotypes: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        segment = self._runtime.segment
        with self._slot() as slot:
            packed = pack_pairs(batch, reads, haplotypes, segment, slot)
            size = WORD_BYTES * len(STRIP_RESULT) * packed.items
            slot.make_room("out", size)
            slot.make_room("border", WORD_BYTES * packed.words)
            slot.make_room("strips", _strip_bytes(segment) * packed.items)
            slot.make_room("scratch", 0)
            cells = int((np.diff(batch.read_offset)[reads] * np.diff(batch.haplotype_offset)[haplotypes]).sum())
            rows, strips, join = self._runtime.compiled(self._long_variants(batch, segment))
            dispatches = [Dispatch(rows, packed.work, packed.items, False, 0)]
            empty = {"out": size, "border": WORD_BYTES * packed.words}
            for polls in (self._polls, 0):
                dispatches += self._strip_dispatches(strips, packed, cells, segment, polls)
                dispatches.append(Dispatch(join, packed.work, packed.items, False, 0))
                self._runtime.submit(slot, dispatches, BORDERS, self._submit_cells, empty=empty, download=size)
                with self._runtime.downloaded(slot, size, alone=self._is_alone) as out:
                    unfit = out[STRIP_RESULT.index("unfit") :: len(STRIP_RESULT)]
                    unordered = bool((unfit & UNORDERED).any())
                    if unordered:
                        break
                    if not (unfit & UNFINISHED).any():
                        return pair_scores(packed, out)
                self._take_turns()
                dispatches, empty = [], {}
        if not unordered:
            raise PairhmmError(f"{self.label}: strips of long pairs are not done after all their turns")
        self._stop_shuffling()
        return self._run_pairs(batch, reads, haplotypes)

    def _strip_dispatches(
        self, pipeline: Any, packed: PackedPairs, cells: int, segment: int, polls: int
    ) -> list[Dispatch]:
        """The dispatches for all steps of all strips. With polls, strips run together; without, they take turns."""
        behind = distance(segment) if polls else lag(segment) + STEPS
        front = packed.front(behind)
        cells += int(self._speed * STEP_SECONDS * front)
        steps = STEPS
        if polls:
            submissions = -(-cells // max(1, int(self._submit_cells)))
            steps = max(STEPS, in_blocks(-(-front // submissions)))
        count = -(-front // steps)
        works = np.repeat(packed.work[None], count)
        works["front"], works["behind"], works["polls"] = steps * np.arange(1, count + 1), behind, polls
        return [Dispatch(pipeline, works[k], packed.items, False, cells // count) for k in range(count)]

    def _take_turns(self) -> None:
        """Make strips take turns from now on: workgroups do not run side by side, so strips would wait in vain."""
        if self._polls:
            self._polls = 0
            log.warning("%s: workgroups do not run side by side; strips of long pairs take turns instead", self.label)

    def _stop_shuffling(self) -> None:
        """Use no shuffles from now on: the driver gave a kernel subgroups of another size than the measured one."""
        if self._runtime.subgroup:
            self._runtime.subgroup = 0
            log.warning("%s: subgroups change their size; lanes use workgroup memory instead", self.label)


def _kernel_of(tier: Tier) -> str:
    return "forward_tall" if tier.shape.tall else TREES if tier.walkers else "forward"


def _strip_bytes(segment: int) -> int:
    """Bytes of a strip's rows and states."""
    return ENTRY_BYTES * LONG.lanes * strip_entries(segment)


def make(device: int, memory: int | None) -> WebgpuBackend:
    label = f"webgpu:{device}"
    with webgpu_setup.starting(label):
        return WebgpuBackend(webgpu_setup.adapters()[device], label, memory)
