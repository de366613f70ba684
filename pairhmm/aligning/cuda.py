"""Alignments on a CUDA device: runs the kernels of `cuda/align/` through CuPy."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm import aligning
from pairhmm.aligning import cuda_packing as packing
from pairhmm.aligning.base import Aligner
from pairhmm.aligning.batch import Alignments, SequencePairs
from pairhmm.aligning.cuda_kernels import THREADS, WARP, Kernel, Parameters, kernels
from pairhmm.aligning.cuda_packing import SLACK, Index, Letters, Side
from pairhmm.aligning.scoring import Scoring
from pairhmm.backends.cuda import setup as cuda_setup
from pairhmm.backends.cuda import sources
from pairhmm.backends.cuda.setup import status, translated
from pairhmm.backends.cuda.slot import Slot
from pairhmm.backends.fastest import fastest_on_the_cpu
from pairhmm.backends.tiles import team
from pairhmm.compiled import native

__all__ = ["CudaAligner", "make", "status"]

log = logging.getLogger(__name__)

PAIR_WORDS = 4
"""Words of a pair on the device (`Pair` of cuda/align/types.cuh)."""

LOWEST_BYTE = 0x80
"""Bytes of a score that is lower than any."""

ROWS_ARE = {"shorter": 0, "query": 1, "target": 2}
"""Which sequence of a pair the rows are (`PairClasses::Rows` of cpu/staging/pair_tasks.hpp)."""

TRACERS = ("align_trace", "align_gather")
"""The kernels that make alignments of what align_score has written."""

FEW_WARPS = 4
"""Strips for each multiprocessor from which on it has work enough. Fewer are made lower, so that there are more."""

TRACE_SHARE = 8
"""The share of the device's memory that a chunk's traces may take: one in so many."""

MOST_TRACE = 1 << 32
"""The most bytes of a chunk's traces. More would not be faster."""

TRACE_WASTE = 1.5
"""About how many bytes of traces there are for each that a cell needs."""


@dataclass(frozen=True)
class Work:
    """What is done with each pair of a call.

    Attributes
    ----------
    scoring : Scoring
    halves : bool
        Whether two alignments share a word. Sequences with N then are left out, as are scores that do not fit.
    traced : bool
        Whether alignments are wanted, or scores alone.
    """

    scoring: Scoring
    halves: bool
    traced: bool

    @property
    def free(self) -> bool:
        return self.scoring.mode == "semi-global"

    @cached_property
    def parameters(self) -> Parameters:
        return Parameters.of(self.scoring, self.traced)

    @property
    def rows_are(self) -> int:
        return ROWS_ARE["target" if self.free else "query" if self.traced else "shorter"]

    @cached_property
    def kernels(self) -> list[Kernel]:
        return kernels(self.scoring.form, self.free, self.halves, self.traced)

    def cells_of(self, trace_bytes: int) -> int:
        """About how many cells have so many bytes of traces."""
        return int(trace_bytes * (2 if self.scoring.form == "affine" else 4) / TRACE_WASTE)


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel, its number in the table of kernels, and its tasks; addresses of its pairs, and of their indices."""

    kernel: Kernel
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
class Chunk:
    """A chunk on the device: the address of its letters, its launches, and the pairs that it leaves out."""

    letters: int
    launches: Sequence[Launch]
    left: Index


@dataclass(frozen=True, slots=True)
class Running:
    """A chunk that the device aligns.

    Attributes
    ----------
    left : int32
        The pairs of the call that it leaves out.
    found : int32[numbers, pairs]
        Scores; with alignments also starts, ends, and numbers of runs.
    """

    left: Index
    found: NDArray[np.int32]


class CudaAligner(Aligner):
    """Aligns pairs on one CUDA device.

    Parameters
    ----------
    device : int
        Index of the device.
    """

    def __init__(self, device: int = 0) -> None:
        import cupy

        self._cupy = cupy
        self.label = f"cuda:{device}"
        self._device = cupy.cuda.Device(device)
        properties = cupy.cuda.runtime.getDeviceProperties(device)
        self._processors, self._memory = int(properties["multiProcessorCount"]), int(properties["totalGlobalMem"])
        self._one_call = threading.Lock()
        self._compiled: dict[tuple[Kernel, str], Any] = {}
        self._cpu: Aligner | None = None
        with self._device:
            self._slots = [Slot(cupy, self.label) for _ in range(2)]
            self._letters = Slot(cupy, self.label)

    def scores(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> NDArray[np.int32]:
        if scoring.mode == "gatk":
            return self._instead("mode gatk").scores(pairs, scoring, threads)
        scores = np.empty(len(pairs), dtype=np.int32)
        left = self._score(pairs, _works(scoring, traced=False)[0], scores)
        for work in _works(scoring, traced=False)[1:]:
            if len(left):
                of = packing.taken(pairs, left)
                found = np.empty(len(of), dtype=np.int32)
                still = self._score(of, work, found)
                scores[left] = found
                left = left[still]
        if len(left):
            of = packing.taken(pairs, left)
            scores[left] = self._for_rest(of).scores(of, scoring, threads)
        return scores

    def _score(self, pairs: SequencePairs, work: Work, scores: NDArray[np.int32]) -> Index:
        """Fill in scores; returns the pairs that are left."""
        left, begin = [], 0
        for _, one in self._align(pairs, work):
            end = begin + one.found.shape[1]
            scores[begin:end] = one.found[0]
            left.append(one.left)
            begin = end
        return np.concatenate(left)

    def alignments(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> Alignments:
        if scoring.mode == "gatk":
            return self._instead("mode gatk").alignments(pairs, scoring, threads)
        found, left = _none(len(pairs)), np.arange(len(pairs), dtype=np.int32)
        for work in _works(scoring, traced=True):
            if len(left):
                of = pairs if len(left) == len(pairs) else packing.taken(pairs, left)
                done = [(self._aligned(slot, one), one.left) for slot, one in self._align(of, work)]
                found = _replaced(found, left, Alignments.concatenate([aligned for aligned, _ in done]))
                left = left[np.concatenate([skipped for _, skipped in done])]
        if len(left):
            of = packing.taken(pairs, left)
            found = _replaced(found, left, self._for_rest(of).alignments(of, scoring, threads))
        return found

    def kernel_seconds(self, pairs: SequencePairs, scoring: Scoring, repetitions: int) -> list[float]:
        """Seconds that the kernels of `scores` take on pairs that are on the device, measured by events.

        They are launched as one CUDA graph, so that the device does not wait for Python between two of them.
        """
        work, slot = _works(scoring, traced=False)[0], self._slots[0]
        event = self._cupy.cuda.Event
        with self._one_call, translated(self.label), self._device, slot.stream:
            chunk = self._send(slot, packing.sides(pairs, whole=False), work, None)
            self._launch(slot, chunk, work, pairs)  # loads the kernels, which a graph cannot do
            slot.stream.synchronize()
            slot.stream.begin_capture()
            self._launch(slot, chunk, work, pairs)
            graph = slot.stream.end_capture()
            seconds = []
            for _ in range(repetitions + 1):
                begin, end = event(), event()
                begin.record()
                graph.launch(slot.stream)
                end.record()
                end.synchronize()
                seconds.append(self._cupy.cuda.get_elapsed_time(begin, end) / 1000)
        return seconds[1:]

    def _for_rest(self, pairs: SequencePairs) -> Aligner:
        """The aligner of pairs that no kernel takes: those with an empty sequence, and others that are too long."""
        return self._instead("pairs of such lengths") if pairs.cells else aligning.load("reference")

    def _instead(self, what: str) -> Aligner:
        """The CPU's aligner, for what the device does not do."""
        if self._cpu is None:
            self._cpu = aligning.load(fastest_on_the_cpu([name for name in aligning.names() if name != "cuda"]))
            log.warning("%s: no kernel for %s, which %s aligns", self.label, what, self._cpu.label)
        return self._cpu

    def _align(self, pairs: SequencePairs, work: Work) -> Iterator[tuple[Slot, Running]]:
        """Align pairs in chunks; yields each when the device has done it, in order."""
        bounds = packing.bounds_by_letters(pairs)
        if work.traced:
            bounds = packing.bounds_by_cells(pairs, work.cells_of(min(MOST_TRACE, self._memory // TRACE_SHARE)))
        with self._one_call, translated(self.label), self._device:
            running: dict[Slot, Running] = {}
            try:
                parts = [pairs.part(begin, end) for begin, end in bounds]
                sides = [packing.sides(part, whole=False) for part in parts]
                sent = None
                if packing.is_whole_better(pairs, sides):
                    sent = self._send_all(pairs, work)
                    sides = [packing.sides(part, whole=True) for part in parts]
                for number, (part, (begin, _)) in enumerate(zip(parts, bounds, strict=True)):
                    slot = self._slots[number % len(self._slots)]
                    if slot in running:
                        yield slot, _done(slot, running)
                    running[slot] = self._begin(slot, part, sides[number], work, begin, sent)
                for slot in list(running):
                    yield slot, _done(slot, running)
            finally:
                # Copies that still run after an error use the slots' memory.
                for slot in self._slots:
                    slot.stream.synchronize()

    def _send_all(self, pairs: SequencePairs, work: Work) -> Letters:
        """Send all sequences, for all chunks."""
        self._letters.begin_call()
        letters = packing.send(self._letters, packing.sides(pairs, whole=True), work.halves)
        self._letters.stream.synchronize()
        return letters

    def _begin(
        self,
        slot: Slot,
        part: SequencePairs,
        sides: tuple[Side, Side],
        work: Work,
        begin: int,
        sent: Letters | None,
    ) -> Running:
        """Pack a chunk, send it, and start its kernels and the copy of what they find."""
        chunk = self._send(slot, sides, work, sent)
        with slot.stream:
            self._launch(slot, chunk, work, part)
        numbers = 4 if work.traced else 1
        size = 4 * numbers * len(part)
        host = slot.pinned("found", size + SLACK)
        slot.device("found", size + SLACK).copy_to_host_async(host.ctypes.data, size, slot.stream)
        found = host[:size].view(np.int32).reshape(numbers, len(part))
        return Running(chunk.left + np.int32(begin), found)

    def _send(self, slot: Slot, sides: tuple[Side, Side], work: Work, sent: Letters | None) -> Chunk:
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
        self._compile(launches)
        return Chunk(letters.address, launches, tasks.left())

    def _send_pairs(self, slot: Slot, tasks: native.PairTasks) -> tuple[int, int]:
        """Addresses of the pairs in the order of their tasks, and of their indices."""
        size, all_bytes = 4 * PAIR_WORDS * tasks.slots, 4 * (PAIR_WORDS + 1) * tasks.slots
        host, there = slot.pinned("pairs", all_bytes + SLACK), slot.device("pairs", all_bytes + SLACK)
        tasks.write(team(), host[:size].view(np.uint32), host[size:all_bytes].view(np.uint32))
        there.copy_from_host_async(host.ctypes.data, all_bytes, slot.stream)
        return int(there.ptr), int(there.ptr) + size

    def _launch(self, slot: Slot, chunk: Chunk, work: Work, part: SequencePairs) -> None:
        size = 4 * (4 if work.traced else 1) * len(part)
        there = slot.device("found", size + SLACK)
        if work.traced:
            there.memset_async(0, size, slot.stream)
        elif any(launch.kernel.strips and launch.kernel.free for launch in chunk.launches):
            there.memset_async(LOWEST_BYTE, size, slot.stream)
        found, letters, launches = int(there.ptr), chunk.letters, chunk.launches
        counters = slot.zeros("counters", 4 * len(launches) + SLACK)
        numbers = [np.uint32(number & 0xFFFFFFFF) for number in (*work.parameters, 1)]
        best = slot.zeros("best", 8 * len(part)) if work.traced and work.free else 0
        runs = self._room_for_runs(slot, part) if work.traced else (0, 0)
        # Its traces are read before the next kernel writes its own.
        most = max((_trace_bytes(launch) for launch in launches), default=0) if work.traced else 0
        trace = int(slot.device("trace", most).ptr) if most else 0
        for number, one in enumerate(launches):
            kernel = one.kernel
            pairs = one.pairs, one.index
            if kernel.name == "align_edit":
                self._start(kernel, "align_edit", one.slots, *pairs, letters, found, np.uint32(one.slots))
                continue
            threads = one.tasks * one.strips * WARP
            edges = self._edges(slot, one) if kernel.strips else (0, np.uint32(0), 0)
            self._start(
                kernel,
                "align_score",
                min(threads, self._processors * kernel.blocks * THREADS),
                *pairs,
                letters,
                found,
                counters + 4 * number,
                np.uint32(one.tasks),
                np.uint32(one.strips),
                *edges,
                trace,
                best,
                np.uint32(one.steps),
                *numbers,
            )
            if work.traced:
                first_run, to = runs
                results = (found + 4 * k * len(part) for k in range(4))
                sizes = np.uint32(one.tasks), np.uint32(one.steps)
                slots = np.uint32(one.slots)
                self._start(
                    kernel, "align_trace", one.slots, *pairs, slots, trace, *sizes, best, *results, first_run, to
                )

    def _edges(self, slot: Slot, one: Launch) -> tuple[Any, ...]:
        """Memory for the rows between strips, and for how much of them is written."""
        edges = slot.device("edges", 4 * one.tasks * one.columns * (1 + one.kernel.affine))
        done = slot.zeros("done", 4 * one.strips * one.tasks)
        return int(edges.ptr), np.uint32(one.columns), done

    def _room_for_runs(self, slot: Slot, part: SequencePairs) -> tuple[int, int]:
        """Addresses of the place of each pair's first run, and of the runs."""
        queries, targets = part.queries.lengths[part.query_index], part.targets.lengths[part.target_index]
        room = 2 * np.minimum(queries, targets) + 1
        end = np.cumsum(room)
        first = slot.upload("first_run", (end - room).view(np.uint8))
        return first, int(slot.device("runs", 4 * int(end[-1])).ptr)

    def _aligned(self, slot: Slot, one: Running) -> Alignments:
        """The alignments of a chunk whose kernels are done."""
        scores, starts, ends, counts = one.found.copy()
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

    def _start(self, kernel: Kernel, name: str, threads: int, *arguments: Any) -> None:
        self._compiled[kernel, name]((-(-threads // THREADS),), (THREADS,), arguments)

    def _compile(self, launches: Sequence[Launch]) -> None:
        """Compile the kernels that are missing, side by side."""
        wanted = [(one.kernel, one.kernel.name) for one in launches]
        wanted += [(one.kernel, name) for one in launches for name in TRACERS if one.kernel.traced]
        missing = [key for key in wanted if key not in self._compiled]

        def compiled(key: tuple[Kernel, str]) -> Any:
            kernel, name = key
            with self._device:
                text = kernel.trace_source if name in TRACERS else kernel.source
                return sources.compiled(self._cupy, text, name)

        if missing:
            with ThreadPoolExecutor(len(missing)) as pool:
                self._compiled.update(zip(missing, pool.map(compiled, missing), strict=True))


def _works(scoring: Scoring, traced: bool) -> list[Work]:
    """What is tried in turn: halves of words, if they hold the scores of columns, and words."""
    in_words = Work(scoring, False, traced)
    in_halves = Work(scoring, True, traced)
    return [in_halves, in_words] if in_halves.parameters.fit_halves else [in_words]


def _launches(tasks: native.PairTasks, table: Sequence[Kernel], sent: tuple[int, int], processors: int) -> list[Launch]:
    """A launch for each kernel that has pairs."""
    pairs, index = sent
    launches = []
    for number, kernel in enumerate(table):
        first, end = tasks.first_slot[number : number + 2]
        count = tasks.first_task[number + 1] - tasks.first_task[number]
        strips = -(-tasks.longest_rows[number] // kernel.rows) if kernel.strips else 1
        if kernel.strips and count * strips < FEW_WARPS * processors:
            kernel = kernel.with_low_strips
            strips = -(-tasks.longest_rows[number] // kernel.rows)
        columns = tasks.longest_columns[number]
        at = pairs + 4 * PAIR_WORDS * first, index + 4 * first
        if count:
            launches.append(Launch(kernel, number, count, end - first, *at, strips, columns))
    return launches


def _trace_bytes(one: Launch) -> int:
    return one.strips * one.tasks * one.steps * WARP * one.kernel.trace_bytes


def _done(slot: Slot, running: dict[Slot, Running]) -> Running:
    """What a slot runs, once it has ended."""
    slot.stream.synchronize()
    return running.pop(slot)


def _none(pairs: int) -> Alignments:
    """Alignments to replace."""
    scores, starts, ends = np.zeros((3, pairs), dtype=np.int32)
    return Alignments(scores, starts, ends, np.zeros(0, dtype=np.uint32), np.zeros(pairs + 1, dtype=np.int64))


def _replaced(found: Alignments, index: Index, by: Alignments) -> Alignments:
    """Alignments of which those of `index`, which have no CIGARs, are replaced."""
    if len(index) == len(found):
        return by
    for values, others in (
        (found.scores, by.scores),
        (found.target_starts, by.target_starts),
        (found.target_ends, by.target_ends),
    ):
        values[index] = others
    kept, put = np.diff(found.offsets), np.diff(by.offsets)
    counts = kept.copy()
    counts[index] = put
    offsets = np.concatenate([[0], np.cumsum(counts)])
    cigars = np.empty(offsets[-1], dtype=np.uint32)
    cigars[np.repeat(offsets[:-1] - found.offsets[:-1], kept) + np.arange(len(found.cigars))] = found.cigars
    cigars[np.repeat(offsets[index] - by.offsets[:-1], put) + np.arange(len(by.cigars))] = by.cigars
    return Alignments(found.scores, found.target_starts, found.target_ends, cigars, offsets)


def make(device: int = 0) -> Aligner:
    """An aligner on a CUDA device.

    Raises
    ------
    BackendUnavailable
    """
    with cuda_setup.starting(device):
        return CudaAligner(device)
