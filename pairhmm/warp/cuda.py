"""Warps on a CUDA device: runs the kernel of `cuda/warp/` through CuPy."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pairhmm.backends.cuda import setup as cuda_setup
from pairhmm.backends.cuda import sources
from pairhmm.backends.cuda.setup import translated
from pairhmm.backends.cuda.slot import Slot
from pairhmm.errors import OutOfDeviceMemory
from pairhmm.warp import cpu
from pairhmm.warp.base import SignalPairs, Warper, Warpings, WarpOptions
from pairhmm.warp.cuda_kernels import (
    BLOCKS,
    FLOAT_LIMIT,
    FLOATS,
    HALVES,
    MOST_SPREAD,
    WARP,
    WARPS,
    WORD_LIMIT,
    WORDS,
    Ints,
    LevelPairs,
    WarpKernel,
    costs_of,
    halves_limit,
    packed,
    tasks_of,
)

log = logging.getLogger(__name__)

MOST_LEVELS = 1 << 26
"""Levels of a chunk: those of its pairs, each counted for itself."""

LEAST_LEVELS = 1 << 14
"""Levels of the smallest chunk. If it does not fit, the CPU does the rest."""

FORMS = HALVES, FLOATS, WORDS
"""Forms of numbers, in the order in which they are tried."""

HALVES_MUST_HOLD = 0.5
"""Share of a chunk's costs that must be exact in halves, so that the next chunk is tried in them."""

FIRST_WINDOW = 2
"""The window for a path's start, in levels of the target per level of the query."""

WINDOW_GROWS = 4
"""Factor by which the window grows until the start is in it."""

RESULT_BYTES, COUNT_BYTES, COST_BYTES, LEVEL_BYTES = 8, 4, 4, 2
"""Bytes of a result, of a counter, of a cost between two strips and of a level."""


class PathRules(NamedTuple):
    """Which paths a launch allows, and the direction that it reads levels in: 1 or -1."""

    free_start: bool
    free_end: bool
    band: int | None
    direction: int


BACKWARDS = PathRules(False, True, None, -1)
"""From the end of a path that is known back to its start."""


@dataclass(slots=True)
class WarpChunk:
    """Pairs whose levels are on the device."""

    slot: Slot
    index: Ints  # [pairs]: which pairs of the call they are
    pairs: LevelPairs
    targets: Ints  # [pairs]: levels of each pair's target
    spread: Ints  # [pairs]: levels of a pair differ by no more
    forms: Ints  # [pairs]: which of `FORMS` each pair is computed in
    limit: int  # costs in halves are exact below it


Launch = Callable[[], None]


class CudaWarper(Warper):
    """Warps on one CUDA device."""

    def __init__(self, device: int) -> None:
        import cupy

        self._cupy = cupy
        self.label = f"cuda:{device}"
        self._device = cupy.cuda.Device(device)
        self._kernels: dict[WarpKernel, Any] = {}
        self._lock = threading.Lock()
        self._most = MOST_LEVELS
        with self._device:
            self._multiprocessors = int(cupy.cuda.runtime.getDeviceProperties(device)["multiProcessorCount"])
            self._slots = Slot(cupy, self.label), Slot(cupy, self.label)

    def warpings(self, pairs: SignalPairs, options: WarpOptions, threads: int) -> Warpings:
        warpings, has_path = Warpings.unwarped(pairs, options)
        rows, columns = _lengths(pairs)
        fits = has_path & (rows + columns <= self._most)
        with self._lock, translated(self.label), self._device:
            left = self._on_device(pairs, np.flatnonzero(fits), options, warpings)
        left += np.flatnonzero(has_path & ~fits).tolist()
        if left:
            log.warning(
                "%s: %d pairs are too long or too costly for its kernels; the CPU warps them", self.label, len(left)
            )
            chosen = np.array(left)
            warpings.put(chosen, cpu.make().warpings(pairs.taken(chosen), options, threads))
        return warpings

    def kernel_seconds(self, pairs: SignalPairs, options: WarpOptions, repetitions: int) -> list[float]:
        """Seconds that the first kernels take on levels that are on the device, measured by events.

        The pairs are one chunk without empty signals. Costs that turn out not to be exact are not computed again, and
        starts are not looked for.
        """
        with self._lock, translated(self.label), self._device:
            slot = self._slots[0]
            with slot.stream:
                chunk = self._sent(slot, pairs, np.arange(len(pairs)), options, True)
                launches = self._prepared(chunk, np.arange(len(pairs)), chunk.pairs, _first_rules(options))
                return slot.seconds(lambda: [launch() for launch in launches], repetitions)

    def _on_device(self, pairs: SignalPairs, chosen: Ints, options: WarpOptions, warpings: Warpings) -> list[int]:
        """Warp chosen pairs, chunk by chunk; what does not fit is tried again in smaller chunks. Gives those left."""
        left: list[int] = []
        done = 0
        while done < len(chosen):
            try:
                for chunk, lacks in self._chunks(pairs, chosen[done:], options, warpings):
                    done += len(chunk.index)
                    left += lacks
            except OutOfDeviceMemory:
                for slot in self._slots:
                    slot.release()
                self._most //= 2
                if self._most < LEAST_LEVELS:
                    self._most = LEAST_LEVELS
                    return [*left, *chosen[done:].tolist()]
                log.warning("%s: out of memory; chunks of %s levels now", self.label, f"{self._most:,}")
        return left

    def _chunks(
        self, pairs: SignalPairs, chosen: Ints, options: WarpOptions, warpings: Warpings
    ) -> Iterator[tuple[WarpChunk, list[int]]]:
        """Each chunk, once its results are in `warpings`, and its pairs that the device can't warp.

        A chunk is packed and sent while the device works on the one before.
        """
        running: deque[WarpChunk] = deque()
        is_exact_in_halves = True
        for number, index in enumerate(_cut(pairs, chosen, self._most)):
            slot = self._slots[number % 2]
            with slot.stream:
                slot.begin_call()
                chunk = self._sent(slot, pairs, index, options, is_exact_in_halves)
                self._launch(chunk, np.arange(len(index)), chunk.pairs, _first_rules(options))
            running.append(chunk)
            if len(running) == 2:
                first = running.popleft()
                tried = first.forms == FORMS.index(HALVES)
                yield first, self._finished(first, options, warpings)
                if tried.any():
                    is_exact_in_halves = bool((first.forms[tried] == FORMS.index(HALVES)).mean() >= HALVES_MUST_HOLD)
        for chunk in running:
            yield chunk, self._finished(chunk, options, warpings)

    def _sent(self, slot: Slot, pairs: SignalPairs, index: Ints, options: WarpOptions, halves: bool) -> WarpChunk:
        """Send the levels of pairs, and choose the form of each. Without `halves`, none is computed in them."""
        queries = packed(pairs.queries, pairs.query_index[index])
        targets = packed(pairs.targets, pairs.target_index[index])
        size = len(queries.levels) + len(targets.levels)
        host, there = slot.pinned("levels", LEVEL_BYTES * size), slot.device("levels", LEVEL_BYTES * size)
        levels = host[: LEVEL_BYTES * size].view(np.int16)
        levels[: len(queries.levels)], levels[len(queries.levels) :] = queries.levels, targets.levels
        there.copy_from_host_async(host.ctypes.data, LEVEL_BYTES * size, slot.stream)
        rows, columns = _lengths(pairs)
        least = np.minimum(queries.least, targets.least)
        spread = np.maximum(queries.most, targets.most) - least
        sent = LevelPairs(targets.starts + len(queries.levels), rows[index], queries.starts, columns[index], least)
        if options.mode == "global":
            sent = sent.with_rows_short()
        in_halves = halves & (spread <= MOST_SPREAD)
        forms = np.where(in_halves, FORMS.index(HALVES), FORMS.index(FLOATS))
        return WarpChunk(
            slot, index, sent, rows[index], spread, forms, halves_limit(int(spread[in_halves].max(initial=0)))
        )

    def _finished(self, chunk: WarpChunk, options: WarpOptions, warpings: Warpings) -> list[int]:
        """Write the results of a chunk whose kernels run; returns its pairs that the device can't warp."""
        with chunk.slot.stream:
            costs, last_rows, lacks = self._exact(chunk, _first_rules(options))
            is_done = np.ones(len(costs), dtype=bool)
            is_done[lacks] = False
            done = np.flatnonzero(is_done)
            ends = last_rows + 1 if options.mode == "subsequence" else chunk.targets
            starts = np.zeros(len(costs), dtype=np.int64)
            if options.mode == "subsequence":
                self._find_starts(chunk, done, costs, ends, starts)
        index = chunk.index[done]
        warpings.costs[index], warpings.starts[index], warpings.ends[index] = costs[done], starts[done], ends[done]
        return [int(pair) for pair in chunk.index[lacks]]

    def _exact(self, chunk: WarpChunk, rules: PathRules) -> tuple[Ints, Ints, Ints]:
        """Costs and last rows of a chunk whose kernels run, and its pairs whose costs no form holds.

        A cost that its form does not hold is computed again in the next one.
        """
        limits = np.array([chunk.limit, FLOAT_LIMIT, WORD_LIMIT])
        costs, last_rows = np.zeros(len(chunk.pairs), np.int64), np.zeros(len(chunk.pairs), np.int64)
        lacks: list[Ints] = []
        left = np.arange(len(chunk.pairs))
        while True:
            costs[left], last_rows[left] = self._results(chunk, left)
            left = left[costs[left] >= limits[chunk.forms[left]]]
            chunk.forms[left] += 1
            longest = np.maximum(chunk.pairs.rows[left], chunk.pairs.columns[left])
            in_words = chunk.forms[left] == FORMS.index(WORDS)
            is_lacking = in_words & (longest * chunk.spread[left] >= WORD_LIMIT)
            lacks.append(left[is_lacking])
            left = left[~is_lacking]
            if not len(left):
                return costs, last_rows, np.concatenate(lacks)
            self._launch(chunk, left, chunk.pairs, rules)

    def _find_starts(self, chunk: WarpChunk, left: Ints, costs: Ints, ends: Ints, starts: Ints) -> None:
        """Fill `starts` of the pairs `left`: the last start from which a path of this cost leads to this end.

        Both signals are read backwards from the end, so that it is the first end of such a path.
        """
        window = FIRST_WINDOW * chunk.pairs.columns + WARP
        while len(left):
            self._launch(chunk, left, chunk.pairs.backwards(ends, window), BACKWARDS)
            cost, row = self._results(chunk, left)
            is_found = cost == costs[left]
            starts[left[is_found]] = ends[left[is_found]] - 1 - row[is_found]
            left = left[~is_found]
            window = window * WINDOW_GROWS

    def _results(self, chunk: WarpChunk, chosen: Ints) -> tuple[Ints, Ints]:
        """Costs and rows of pairs that were launched last, once their kernels are done."""
        size = RESULT_BYTES * len(chunk.pairs)
        results = chunk.slot.download("results", chunk.slot.pinned("results", size)[:size]).view(np.uint64)[chosen]
        costs = np.empty(len(chosen), dtype=np.int64)
        for number, form in enumerate(FORMS):
            of_form = chunk.forms[chosen] == number
            costs[of_form] = costs_of(form, results[of_form])
        return costs, (results & np.uint64(0xFFFFFFFF)).astype(np.int64)

    def _launch(self, chunk: WarpChunk, chosen: Ints, pairs: LevelPairs, rules: PathRules) -> None:
        for launch in self._prepared(chunk, chosen, pairs, rules):
            launch()

    def _prepared(self, chunk: WarpChunk, chosen: Ints, pairs: LevelPairs, rules: PathRules) -> list[Launch]:
        """Launches of chosen pairs of a chunk, each with what they need on the device. The first clears the results."""
        slot = chunk.slot
        work = [
            (form, tasks)
            for number, form in enumerate(FORMS)
            for tasks in tasks_of(pairs, chosen[chunk.forms[chosen] == number], form)
        ]
        variants = [
            WarpKernel(form, tasks.shape, rules.free_start, rules.free_end, rules.band is not None)
            for form, tasks in work
        ]
        wanted = {variant: (variant.source, "warp_signals") for variant in variants}
        sources.compile_new(self._cupy, self._device, self._kernels, wanted)
        tables = np.concatenate([tasks.pairs for _, tasks in work])
        table = slot.upload("pairs", tables.view(np.uint8))
        levels, results = slot.device("levels", 0), slot.device("results", RESULT_BYTES * len(chunk.pairs))
        counted = [1 + (tasks.groups * tasks.strips if tasks.shape.strips else 0) for _, tasks in work]
        counters = slot.device("counters", COUNT_BYTES * sum(counted))
        between = max(tasks.groups * tasks.columns if tasks.shape.strips else 0 for _, tasks in work)
        edges = slot.device("edges", COST_BYTES * max(1, between))

        def clear() -> None:
            results.memset_async(0xFF, RESULT_BYTES * len(chunk.pairs), slot.stream)
            counters.memset_async(0, COUNT_BYTES * sum(counted), slot.stream)

        launches: list[Launch] = [clear]
        counter = int(counters.ptr)
        for (_, tasks), variant, count in zip(work, variants, counted, strict=True):
            warps = tasks.groups * (tasks.strips if tasks.shape.strips else 1)
            blocks = min(self._multiprocessors * BLOCKS, -(-warps // WARPS))
            arguments = (
                *(table, levels.ptr, results.ptr, counter, np.uint32(tasks.groups), np.uint32(tasks.strips)),
                *(edges.ptr, np.uint32(tasks.columns), counter + COUNT_BYTES, np.int32(rules.direction)),
                *(np.int32(rules.band or 0), np.uint32(chunk.limit), np.uint32(1)),
            )
            launches.append(partial(self._kernels[variant], (blocks,), (WARP * WARPS,), arguments))
            counter += COUNT_BYTES * count
            table += tasks.pairs.nbytes
        return launches


def _first_rules(options: WarpOptions) -> PathRules:
    is_free = options.mode == "subsequence"
    return PathRules(is_free, is_free, options.band, 1)


def _lengths(pairs: SignalPairs) -> tuple[Ints, Ints]:
    """Levels of each pair's target and query: its rows and columns."""
    return pairs.targets.lengths[pairs.target_index], pairs.queries.lengths[pairs.query_index]


def _cut(pairs: SignalPairs, chosen: Ints, most: int) -> Iterator[Ints]:
    """Runs of chosen pairs whose levels are at most `most`."""
    rows, columns = _lengths(pairs)
    ends = np.cumsum((rows + columns)[chosen])
    first = 0
    while first < len(chosen):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield chosen[first:last]
        first = last


def make(device: int = 0) -> CudaWarper:
    """A warper on a CUDA device. Raises BackendUnavailable."""
    with cuda_setup.starting(device):
        return CudaWarper(device)
