"""Alignments on a CUDA device: runs the kernels of `cuda/align/` through CuPy."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm import aligning
from pairhmm.aligning.base import Aligner
from pairhmm.aligning.batch import Alignments, SequencePairs, Sequences
from pairhmm.aligning.cuda_kernels import THREADS, WARP, Kernel, Parameters, kernels
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

CHUNK_LETTERS = 1 << 26
"""About the most letters of the pairs of a chunk. While the device aligns one, threads pack the next."""

CHUNK_PAIRS = 1 << 17
"""The most pairs of a chunk."""

MOST_LETTERS = 1 << 30
"""The most letters on the device at once: places of letters are 32-bit words."""

ROUND = 64
"""Letters that are packed together. Sequences of each side begin with a round."""

SLACK = 16
"""Bytes behind the last letters, so that the last word is whole."""

PAIR_WORDS = 4
"""Words of a pair on the device (`Pair` of cuda/align/types.cuh)."""

LOWEST_BYTE = 0x80
"""Bytes of a score that is lower than any."""

ROWS_ARE = {"shorter": 0, "query": 1, "target": 2}
"""Which sequence of a pair the rows are (`PairClasses::Rows` of cpu/staging/pair_tasks.hpp)."""

Words = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Work:
    """What is done with each pair of a call.

    Attributes
    ----------
    scoring : Scoring
    halves : bool
        Whether two alignments share a word. Sequences with N then are left out, as are scores that do not fit.
    """

    scoring: Scoring
    halves: bool

    @property
    def free(self) -> bool:
        return self.scoring.mode == "semi-global"

    @property
    def parameters(self) -> Parameters:
        return Parameters.of(self.scoring)

    @property
    def rows_are(self) -> int:
        return ROWS_ARE["target" if self.free else "shorter"]

    @property
    def kernels(self) -> list[Kernel]:
        return kernels(self.scoring.form, self.free, self.halves)

    @property
    def letters_of_word(self) -> int:
        return 16 if self.halves else 8


@dataclass(frozen=True, slots=True)
class Side:
    """The sequences [first, end) of one side, which a chunk's pairs are of."""

    sequences: Sequences
    index: NDArray[np.int32]
    first: int
    end: int

    @classmethod
    def of(cls, sequences: Sequences, index: NDArray[np.int32], whole: bool) -> Side:
        if whole:
            return cls(sequences, index, 0, len(sequences))
        return cls(sequences, index, int(index.min()), int(index.max()) + 1)

    @property
    def codes(self) -> NDArray[np.uint8]:
        return self.sequences.codes[self.sequences.offsets[self.first] : self.sequences.offsets[self.end]]

    def packed_at(self, letter: int) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
        """As PairTasks takes it, if its first letter is at `letter` among the packed ones."""
        return self.sequences.offsets, self.index, int(self.sequences.offsets[self.first]) - letter


@dataclass(slots=True)
class Running:
    """A chunk that the device aligns: pairs [begin, end), of which `left` (counted from `begin`) are not."""

    begin: int
    end: int
    left: NDArray[np.int32]
    scores: NDArray[np.int32]


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
        self._processors = int(cupy.cuda.runtime.getDeviceProperties(device)["multiProcessorCount"])
        self._one_call = threading.Lock()
        self._compiled: dict[Kernel, Any] = {}
        self._cpu: Aligner | None = None
        with self._device:
            self._slots = [Slot(cupy, self.label) for _ in range(2)]
            self._letters = Slot(cupy, self.label)

    def scores(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> NDArray[np.int32]:
        if scoring.mode == "gatk":
            return self._instead("mode gatk").scores(pairs, scoring, threads)
        scores = np.empty(len(pairs), dtype=np.int32)
        halves = Parameters.of(scoring).fit_halves
        left = self._align(pairs, Work(scoring, halves), scores)
        if halves and len(left):
            scores[left], left = self._scores_in_words(_taken(pairs, left), scoring, left)
        if len(left):
            scores[left] = self._scores_of_rest(_taken(pairs, left), scoring, threads)
        return scores

    def alignments(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> Alignments:
        return self._instead("CIGARs").alignments(pairs, scoring, threads)

    def _scores_in_words(
        self, pairs: SequencePairs, scoring: Scoring, index: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Scores of pairs that halves do not hold, and those of `index` that words do not hold either."""
        scores = np.empty(len(pairs), dtype=np.int32)
        left = self._align(pairs, Work(scoring, halves=False), scores)
        return scores, index[left]

    def _scores_of_rest(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> NDArray[np.int32]:
        """Scores of pairs with an empty sequence, and of pairs that are too long for the device."""
        queries, targets = (
            of.lengths[index] for of, index in ((pairs.queries, pairs.query_index), (pairs.targets, pairs.target_index))
        )
        gaps = queries if scoring.mode == "semi-global" else queries + targets
        scores = np.where(gaps > 0, scoring.gap_open + (gaps - 1) * scoring.gap_extend, 0).astype(np.int32)
        long = np.flatnonzero((queries > 0) & (targets > 0)).astype(np.int32)
        if len(long):
            scores[long] = self._instead("pairs as long").scores(_taken(pairs, long), scoring, threads)
        return scores

    def _instead(self, what: str) -> Aligner:
        """The CPU's aligner, for what the device does not do."""
        if self._cpu is None:
            others = [name for name in aligning.names() if name != "cuda"]
            self._cpu = aligning.load(fastest_on_the_cpu(others))
            log.warning("%s: no kernel for %s, which %s aligns", self.label, what, self._cpu.label)
        return self._cpu

    def _align(self, pairs: SequencePairs, work: Work, scores: NDArray[np.int32]) -> NDArray[np.int32]:
        """Fill in scores; returns the pairs that are left, in ascending order."""
        if not len(pairs):
            return np.zeros(0, dtype=np.int32)
        bounds = _chunk_bounds(pairs)
        whole = _is_whole_better(pairs, bounds)
        left = []
        with self._one_call, translated(self.label), self._device:
            sent = self._send_letters(pairs, work) if whole else None
            running: dict[Slot, Running] = {}
            try:
                for number, (begin, end) in enumerate(bounds):
                    slot = self._slots[number % len(self._slots)]
                    if slot in running:
                        left.append(self._finish(slot, running.pop(slot), scores))
                    running[slot] = self._begin(slot, pairs.part(begin, end), work, begin, sent)
                for slot, one in running.items():
                    left.append(self._finish(slot, one, scores))
            except BaseException:
                for slot in self._slots:
                    slot.stream.synchronize()
                raise
        return np.sort(np.concatenate(left))

    def _begin(
        self, slot: Slot, part: SequencePairs, work: Work, begin: int, sent: tuple[int, Any, Words | None] | None
    ) -> Running:
        """Pack a chunk, send it, and start the kernels."""
        slot.begin_call()
        if sent is None:
            if _letters_of_ranges(part) > MOST_LETTERS:
                part = _taken(part, np.arange(len(part), dtype=np.int32))
            letters, sides, unknown = self._pack(slot, part, work, whole=False)
        else:
            letters, sides, unknown = sent[0], self._sides(part, whole=True), sent[2]
        tasks = self._tasks(sides, unknown, work)
        pair_bytes = 4 * PAIR_WORDS * tasks.slots
        host = slot.pinned("pairs", pair_bytes + 4 * tasks.slots + SLACK)
        tasks.write(
            team(), host[:pair_bytes].view(np.uint32), host[pair_bytes : pair_bytes + 4 * tasks.slots].view(np.uint32)
        )
        there = slot.device("pairs", pair_bytes + 4 * tasks.slots + SLACK)
        there.copy_from_host_async(host.ctypes.data, pair_bytes + 4 * tasks.slots, slot.stream)
        self._launch(slot, tasks, work, int(there.ptr), int(there.ptr) + pair_bytes, letters, len(part))
        scores = slot.pinned("scores", 4 * len(part))
        slot.device("scores", 4 * len(part)).copy_to_host_async(scores.ctypes.data, 4 * len(part), slot.stream)
        return Running(begin, begin + len(part), tasks.left(), scores[: 4 * len(part)].view(np.int32))

    def _finish(self, slot: Slot, running: Running, scores: NDArray[np.int32]) -> NDArray[np.int32]:
        slot.stream.synchronize()
        scores[running.begin : running.end] = running.scores
        return running.left + np.int32(running.begin)

    def _sides(self, part: SequencePairs, whole: bool) -> tuple[tuple[Side, int], tuple[Side, int]]:
        """Queries and targets, with the places of their first letters among the packed ones."""
        queries = Side.of(part.queries, part.query_index, whole)
        targets = Side.of(part.targets, part.target_index, whole)
        return (queries, 0), (targets, -(-len(queries.codes) // ROUND) * ROUND)

    def _pack(
        self, slot: Slot, part: SequencePairs, work: Work, whole: bool
    ) -> tuple[int, tuple[tuple[Side, int], ...], Words | None]:
        """Pack letters and send them: their address, the sides, and the bits of N, if there is any."""
        sides = self._sides(part, whole)
        (_, _), (targets, first_target) = sides
        letters = first_target + -(-len(targets.codes) // ROUND) * ROUND
        size = 4 * letters // work.letters_of_word
        host, there = slot.pinned("letters", size + SLACK), slot.device("letters", size + SLACK)
        words = host[:size].view(np.uint32)
        unknown = np.empty(letters // 32 if work.halves else 0, dtype=np.uint32)
        is_any = False
        for side, first in sides:
            at, end = (4 * place // work.letters_of_word for place in (first, first + len(side.codes) + ROUND - 1))
            end = min(end, size)
            if work.halves:
                is_any |= native.pack_two_bits(team(), side.codes, words[at // 4 :], unknown[first // 32 :])
            else:
                native.pack_four_bits(team(), side.codes, words[at // 4 :])
            (there + at).copy_from_host_async(host.ctypes.data + at, end - at, slot.stream)
        return int(there.ptr), sides, unknown if is_any else None

    def _send_letters(self, pairs: SequencePairs, work: Work) -> tuple[int, Any, Words | None]:
        """Send all sequences, for all chunks."""
        self._letters.begin_call()
        letters, sides, unknown = self._pack(self._letters, pairs, work, whole=True)
        self._letters.stream.synchronize()
        return letters, sides, unknown

    def _tasks(self, sides: Sequence[tuple[Side, int]], unknown: Words | None, work: Work) -> Any:
        queries, targets = (side.packed_at(first) for side, first in sides)
        table = work.kernels
        rows, sizes = [kernel.rows for kernel in table], [kernel.pairs_of_task for kernel in table]
        fits = work.parameters.fits(work.halves, work.free)
        return native.PairTasks(team(), queries, targets, unknown, rows, sizes, work.rows_are, fits)

    def _launch(self, slot: Slot, tasks: Any, work: Work, pairs: int, index: int, letters: int, count: int) -> None:
        """Start the kernel of each class that has pairs."""
        first_task, first_slot = tasks.first_task, tasks.first_slot
        table = [(k, kernel) for k, kernel in enumerate(work.kernels) if first_task[k] < first_task[k + 1]]
        self._compile([kernel for _, kernel in table])
        scores = slot.device("scores", 4 * count)
        if any(kernel.strips and kernel.free for _, kernel in table):
            scores.memset_async(LOWEST_BYTE, 4 * count, slot.stream)
        counters = slot.zeros("counters", 4 * max(1, len(table)))
        for number, (k, kernel) in enumerate(table):
            at = first_slot[k]
            given = pairs + 4 * PAIR_WORDS * at, index + 4 * at, letters, int(scores.ptr)
            here = first_task[k + 1] - first_task[k]
            if kernel.name == "align_edit":
                blocks = -(-here * WARP // THREADS)
                arguments: tuple[Any, ...] = (*given, np.uint32(first_slot[k + 1] - at))
            else:
                counter = counters + 4 * number
                edges = self._edges(slot, tasks, kernel, here) if kernel.strips else (np.uint32(1), 0, np.uint32(0), 0)
                numbers = (np.array(work.parameters, dtype=np.int64) & 0xFFFFFFFF).astype(np.uint32)
                arguments = (*given, counter, np.uint32(here), *edges, *numbers, np.uint32(1))
                blocks = min(self._processors * kernel.blocks, -(-here * int(edges[0]) * WARP // THREADS))
            with slot.stream:
                self._compiled[kernel]((blocks,), (THREADS,), arguments)

    def _edges(self, slot: Slot, tasks: Any, kernel: Kernel, groups: int) -> tuple[Any, ...]:
        """The strips of the longest pair, and memory for what is between two strips."""
        strips = -(-tasks.longest_rows // kernel.rows)
        columns = tasks.longest_columns
        edges = slot.device("edges", 4 * groups * columns * (1 + kernel.affine))
        done = slot.zeros("done", 4 * strips * groups)
        return np.uint32(strips), int(edges.ptr), np.uint32(columns), done

    def _compile(self, wanted: Sequence[Kernel]) -> None:
        missing = [kernel for kernel in wanted if kernel not in self._compiled]
        if not missing:
            return

        def compiled(kernel: Kernel) -> Any:
            with self._device:
                return sources.compiled(self._cupy, kernel.source, kernel.name)

        with ThreadPoolExecutor(len(missing)) as pool:
            self._compiled.update(zip(missing, pool.map(compiled, missing), strict=True))


def _letters(pairs: SequencePairs) -> int:
    return len(pairs.queries.codes) + len(pairs.targets.codes)


def _letters_of_ranges(pairs: SequencePairs) -> int:
    """Letters from the first sequence that is used to the last one."""
    sides = ((pairs.queries, pairs.query_index), (pairs.targets, pairs.target_index))
    return sum(int(of.offsets[index.max() + 1] - of.offsets[index.min()]) for of, index in sides)


def _taken(pairs: SequencePairs, index: NDArray[np.int32]) -> SequencePairs:
    """Pairs of their own sequences alone."""
    sides = []
    for sequences, of in ((pairs.queries, pairs.query_index), (pairs.targets, pairs.target_index)):
        used, again = np.unique(of[index], return_inverse=True)
        lengths = sequences.lengths[used]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        codes = sequences.codes[np.repeat(sequences.offsets[used] - offsets[:-1], lengths) + np.arange(offsets[-1])]
        sides.append((Sequences(codes, offsets), again.astype(np.int32)))
    (queries, query_index), (targets, target_index) = sides
    return SequencePairs(queries, targets, query_index, target_index)


def _chunk_bounds(pairs: SequencePairs) -> list[tuple[int, int]]:
    """Chunks of about as many letters, as (begin, end)."""
    letters = sum(
        len(of.codes) * len(pairs) / max(1, len(of)) for of in (pairs.queries, pairs.targets)
    )  # if each is used as often
    count = max(-(-int(letters) // CHUNK_LETTERS), -(-len(pairs) // CHUNK_PAIRS))
    borders = [len(pairs) * k // count for k in range(count + 1)] if count else [0, len(pairs)]
    return [(begin, end) for begin, end in pairwise(borders) if begin < end]


def _is_whole_better(pairs: SequencePairs, bounds: Sequence[tuple[int, int]]) -> bool:
    """Whether the chunks' sequences, sent for each, would be more than all of them."""
    of_chunks = sum(_letters_of_ranges(pairs.part(begin, end)) for begin, end in bounds)
    return len(bounds) > 1 and of_chunks > 1.5 * _letters(pairs) and _letters(pairs) <= MOST_LETTERS


def make(device: int = 0) -> Aligner:
    """An aligner on a CUDA device.

    Raises
    ------
    BackendUnavailable
    """
    with cuda_setup.starting(device):
        return CudaAligner(device)
