"""Sends pairs to a CUDA device in chunks, and starts the kernels of `cuda/align/` on them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.align import cuda_packing as packing
from pairhmm.align.base import Alignments, SequencePairs
from pairhmm.align.cuda_kernels import THREADS, TRACERS, WARP, AlignKernel, PairPass
from pairhmm.align.cuda_packing import SLACK, Index, PackedSide, SentLetters
from pairhmm.backends.cuda import sources
from pairhmm.backends.cuda.setup import translated
from pairhmm.backends.cuda.slot import Slot
from pairhmm.backends.tiles import team
from pairhmm.errors import OutOfDeviceMemory
from pairhmm.native import native

PAIR_WORDS = 4
"""Words of a pair on the device (`Pair` of cuda/align/types.cuh)."""

LOWEST_BYTE = 0x80
"""Bytes of a score that is lower than any."""

FEW_WARPS = 4
"""Strips for each multiprocessor from which on it has work enough. Fewer are made lower, so that there are more."""

TRACE_SHARE = 8
"""A chunk's traces take at most 1 / this of the device's memory."""

LARGEST_TRACE = 1 << 32
"""The most bytes of a chunk's traces. More would not be faster."""


@dataclass(frozen=True, slots=True)
class AlignLaunch:
    """A kernel, its number in the table of kernels, and its tasks; addresses of its pairs, and of their indices."""

    kernel: AlignKernel
    number: int
    tasks: int
    slots: int
    pairs: int
    index: int
    strips: int
    columns: int

    @property
    def steps(self) -> int:
        """Most steps of a strip."""
        return self.columns + self.kernel.lanes - 1


@dataclass(frozen=True, slots=True)
class SentPairs:
    """A chunk on the device: the address of its letters, its launches, and the pairs that it leaves out."""

    letters: int
    launches: Sequence[AlignLaunch]
    left: Index


@dataclass(frozen=True, slots=True)
class RunningPairs:
    """A chunk that the device aligns."""

    left: Index  # the pairs of the call that it leaves out
    found: NDArray[np.int32]  # [numbers, pairs]: Scores; with alignments also starts, ends, and numbers of runs


class AligningDevice:
    """Aligns the pairs that its kernels support on one CUDA device."""

    def __init__(self, device: int, label: str) -> None:
        import cupy

        self._cupy, self._label = cupy, label
        self._device = cupy.cuda.Device(device)
        properties = cupy.cuda.runtime.getDeviceProperties(device)
        self._processors, self._memory = int(properties["multiProcessorCount"]), int(properties["totalGlobalMem"])
        self._lock = threading.Lock()
        self._compiled: dict[tuple[AlignKernel, str], Any] = {}
        with self._device:
            self._slots = [Slot(cupy, label) for _ in range(2)]
            self._letters = Slot(cupy, label)

    def scores(self, pairs: SequencePairs, work: PairPass, scores: NDArray[np.int32]) -> Index:
        """Fill in int32[pairs]; returns the pairs that are left, whose scores mean nothing."""
        left, begin = [np.zeros(0, dtype=np.int32)], 0
        with self._call():
            for _, chunk in self._chunks(pairs, work):
                end = begin + chunk.found.shape[1]
                scores[begin:end] = chunk.found[0]
                left.append(chunk.left)
                begin = end
        return np.concatenate(left)

    def alignments(self, pairs: SequencePairs, work: PairPass) -> tuple[Alignments, Index]:
        """The alignments, and the pairs that are left, which have none."""
        left, aligned = [np.zeros(0, dtype=np.int32)], []
        with self._call():
            for slot, chunk in self._chunks(pairs, work):
                aligned.append(self._aligned(slot, chunk))
                left.append(chunk.left)
        return Alignments.concatenate(aligned), np.concatenate(left)

    def kernel_seconds(self, pairs: SequencePairs, work: PairPass, repetitions: int) -> list[float]:
        """Seconds that the kernels of `scores` take on pairs that are on the device, measured by events."""
        slot = self._slots[0]
        with self._call(), slot.stream:
            chunk = self._send(slot, packing.sides(pairs, whole=False), work, None)
            return slot.graph_seconds(lambda: self._launch(slot, chunk, work, pairs), repetitions)

    @contextmanager
    def _call(self) -> Iterator[None]:
        """A context for a call: one at a time. After an error no copy runs that uses the slots' memory."""
        with self._lock, translated(self._label), self._device:
            try:
                yield
            except OutOfDeviceMemory:
                # The next call needs less of some buffers, and may need as much of others.
                for slot in (*self._slots, self._letters):
                    slot.release()
                raise
            finally:
                for slot in self._slots:
                    slot.stream.synchronize()

    def _chunks(self, pairs: SequencePairs, work: PairPass) -> Iterator[tuple[Slot, RunningPairs]]:
        """Align pairs in chunks; yields each when the device has done it, in order."""
        if work.traced:
            bounds = packing.bounds_by_cells(pairs, work.cells_of(min(LARGEST_TRACE, self._memory // TRACE_SHARE)))
        else:
            bounds = packing.bounds_by_letters(pairs)
        parts = [pairs.part(begin, end) for begin, end in bounds]
        sides = [packing.sides(part, whole=False) for part in parts]
        sent = None
        if packing.should_send_whole(pairs, sides):
            sent = self._send_all(pairs, work)
            sides = [packing.sides(part, whole=True) for part in parts]
        running: dict[Slot, RunningPairs] = {}
        for number, (part, (begin, _)) in enumerate(zip(parts, bounds, strict=True)):
            slot = self._slots[number % len(self._slots)]
            if slot in running:
                yield slot, _done(slot, running)
            running[slot] = self._begin(slot, part, sides[number], work, begin, sent)
        for slot in list(running):
            yield slot, _done(slot, running)

    def _send_all(self, pairs: SequencePairs, work: PairPass) -> SentLetters:
        """Send all sequences, for all chunks."""
        self._letters.begin_call()
        letters = packing.send(self._letters, packing.sides(pairs, whole=True), work.halves)
        self._letters.stream.synchronize()
        return letters

    def _begin(
        self,
        slot: Slot,
        part: SequencePairs,
        sides: tuple[PackedSide, PackedSide],
        work: PairPass,
        begin: int,
        sent: SentLetters | None,
    ) -> RunningPairs:
        """Pack a chunk, send it, and start its kernels and the copy of what they find."""
        chunk = self._send(slot, sides, work, sent)
        with slot.stream:
            self._launch(slot, chunk, work, part)
        numbers = 4 if work.traced else 1
        size = 4 * numbers * len(part)
        host = slot.pinned("found", size + SLACK)
        slot.device("found", size + SLACK).copy_to_host_async(host.ctypes.data, size, slot.stream)
        results = host[:size].view(np.int32).reshape(numbers, len(part))
        return RunningPairs(chunk.left + np.int32(begin), results)

    def _send(
        self, slot: Slot, sides: tuple[PackedSide, PackedSide], work: PairPass, sent: SentLetters | None
    ) -> SentPairs:
        slot.begin_call()
        letters = sent or packing.send(slot, sides, work.halves)
        table = work.kernels
        queries, targets = (side.given for side in sides)
        tasks = native.PairTasks(
            team(),
            queries,
            targets,
            letters.unknown,
            [kernel.rows for kernel in table],
            [kernel.pairs_of_task for kernel in table],
            work.rows_are,
            work.parameters.fits(work.halves, work.free),
        )
        launches = _launches(tasks, table, self._send_pairs(slot, tasks), self._processors)
        kernels = dict.fromkeys(launch.kernel for launch in launches)
        wanted: dict[tuple[AlignKernel, str], tuple[Callable[[], str], str]] = {}
        for kernel in kernels:
            wanted[kernel, kernel.name] = kernel.source, kernel.name
            wanted |= {(kernel, name): (kernel.trace_source, name) for name in TRACERS if kernel.traced}
        sources.compile_new(self._cupy, self._device, self._compiled, wanted)
        return SentPairs(letters.address, launches, tasks.left())

    def _send_pairs(self, slot: Slot, tasks: native.PairTasks) -> tuple[int, int]:
        """Addresses of the pairs in the order of their tasks, and of their indices."""
        size, all_bytes = 4 * PAIR_WORDS * tasks.slots, 4 * (PAIR_WORDS + 1) * tasks.slots
        host, there = slot.pinned("pairs", all_bytes + SLACK), slot.device("pairs", all_bytes + SLACK)
        tasks.write(team(), host[:size].view(np.uint32), host[size:all_bytes].view(np.uint32))
        there.copy_from_host_async(host.ctypes.data, all_bytes, slot.stream)
        return int(there.ptr), int(there.ptr) + size

    def _launch(self, slot: Slot, chunk: SentPairs, work: PairPass, part: SequencePairs) -> None:
        size = 4 * (4 if work.traced else 1) * len(part)
        there = slot.device("found", size + SLACK)
        if work.traced:
            there.memset_async(0, size, slot.stream)
        elif any(launch.kernel.strips and launch.kernel.free for launch in chunk.launches):
            there.memset_async(LOWEST_BYTE, size, slot.stream)
        out, letters, launches = int(there.ptr), chunk.letters, chunk.launches
        counters = slot.zeros("counters", 4 * len(launches) + SLACK)
        numbers = [np.uint32(number & 0xFFFFFFFF) for number in (*work.parameters, 1)]
        best = slot.zeros("best", 8 * len(part)) if work.traced and work.free else 0
        runs = self._room_for_runs(slot, part) if work.traced else (0, 0)
        # A kernel's traces are read before the next one writes.
        most = max((_trace_bytes(launch) for launch in launches), default=0) if work.traced else 0
        trace = int(slot.device("trace", most).ptr) if most else 0
        for number, launch in enumerate(launches):
            kernel = launch.kernel
            pairs = launch.pairs, launch.index
            if kernel.name == "align_edit":
                self._start(kernel, "align_edit", launch.slots, *pairs, letters, out, np.uint32(launch.slots))
                continue
            threads = launch.tasks * launch.strips * WARP
            edges = self._edges(slot, launch) if kernel.strips else (0, np.uint32(0), 0)
            self._start(
                kernel,
                "align_score",
                min(threads, self._processors * kernel.blocks * THREADS),
                *pairs,
                letters,
                out,
                counters + 4 * number,
                np.uint32(launch.tasks),
                np.uint32(launch.strips),
                *edges,
                trace,
                best,
                np.uint32(launch.steps),
                *numbers,
            )
            if work.traced:
                first_run, to = runs
                results = (out + 4 * k * len(part) for k in range(4))
                sizes = np.uint32(launch.tasks), np.uint32(launch.steps)
                slots = np.uint32(launch.slots)
                self._start(
                    kernel, "align_trace", launch.slots, *pairs, slots, trace, *sizes, best, *results, first_run, to
                )

    def _edges(self, slot: Slot, launch: AlignLaunch) -> tuple[Any, ...]:
        """Memory for the rows between strips, and for how much of them is written."""
        edges = slot.device("edges", 4 * launch.tasks * launch.columns * (1 + launch.kernel.affine))
        done = slot.zeros("done", 4 * launch.strips * launch.tasks)
        return int(edges.ptr), np.uint32(launch.columns), done

    def _room_for_runs(self, slot: Slot, part: SequencePairs) -> tuple[int, int]:
        """Addresses of the place of each pair's first run, and of the runs."""
        queries, targets = part.queries.lengths[part.query_index], part.targets.lengths[part.target_index]
        room = 2 * np.minimum(queries, targets) + 1
        end = np.cumsum(room)
        first = slot.upload("first_run", (end - room).view(np.uint8))
        return first, int(slot.device("runs", 4 * int(end[-1])).ptr)

    def _aligned(self, slot: Slot, chunk: RunningPairs) -> Alignments:
        """The alignments of a chunk whose kernels are done."""
        scores, starts, ends, counts = chunk.found.copy()
        offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        size = 4 * int(offsets[-1])
        cigars = np.empty(size // 4, dtype=np.uint32)
        if size:
            places = slot.upload("places", offsets[:-1].view(np.uint8))
            there = slot.device("cigars", size)
            counted = int(slot.device("found", 0).ptr) + 3 * 4 * len(counts)
            first, runs = (int(slot.device(name, 0).ptr) for name in ("first_run", "runs"))
            kernel = next(kernel for kernel, name in self._compiled if name == "align_gather")
            with slot.stream:
                count = np.uint32(len(counts))
                self._start(kernel, "align_gather", len(counts), counted, first, runs, places, int(there.ptr), count)
            host = slot.pinned("cigars", size)
            there.copy_to_host_async(host.ctypes.data, size, slot.stream)
            slot.stream.synchronize()
            cigars[:] = host[:size].view(np.uint32)
        return Alignments(scores, starts, ends, cigars, offsets)

    def _start(self, kernel: AlignKernel, name: str, threads: int, *arguments: Any) -> None:
        self._compiled[kernel, name]((-(-threads // THREADS),), (THREADS,), arguments)


def _launches(
    tasks: native.PairTasks, table: Sequence[AlignKernel], sent: tuple[int, int], processors: int
) -> list[AlignLaunch]:
    """A launch for each kernel that has pairs."""
    pairs, index = sent
    launches = []
    slots, firsts, rows, widths = tasks.first_slot, tasks.first_task, tasks.longest_rows, tasks.longest_columns
    for number, kernel in enumerate(table):
        first, end = slots[number : number + 2]
        count = firsts[number + 1] - firsts[number]
        strips = -(-rows[number] // kernel.rows) if kernel.strips else 1
        if kernel.strips and count * strips < FEW_WARPS * processors:
            kernel = kernel.with_low_strips
            strips = -(-rows[number] // kernel.rows)
        columns = widths[number]
        at = pairs + 4 * PAIR_WORDS * first, index + 4 * first
        if count:
            launches.append(AlignLaunch(kernel, number, count, end - first, *at, strips, columns))
    return launches


def _trace_bytes(launch: AlignLaunch) -> int:
    return launch.strips * launch.tasks * launch.steps * WARP * launch.kernel.trace_bytes


def _done(slot: Slot, running: dict[Slot, RunningPairs]) -> RunningPairs:
    """Wait for a slot's work, and return it."""
    slot.stream.synchronize()
    return running.pop(slot)
