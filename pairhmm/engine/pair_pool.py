"""Shares chunks of pairs among devices: halved where memory runs out, and the CPU's where a device is lost."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np

from pairhmm.engine.pairs import AnyPairs, Pairs
from pairhmm.engine.tools import AnyWorker
from pairhmm.errors import DeviceLost, OutOfDeviceMemory

log = logging.getLogger(__name__)

CHUNK_CELLS = 1 << 37
"""Largest call, in cells, about. A run can be interrupted between two calls, and several devices share them."""

MIN_SHARED_CELLS = 1 << 30
"""Fewest cells that several devices share: with less, the fixed cost of a call dominates."""

Result = TypeVar("Result")


@dataclass(slots=True)
class _Job(Generic[AnyWorker, AnyPairs, Result]):
    """Chunks of pairs as (begin, end), the last one next, and the results of those that are done."""

    pairs: AnyPairs
    work: Callable[[AnyWorker, AnyPairs], Result]
    waiting: list[tuple[int, int]]
    results: dict[int, Result] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self) -> tuple[int, int] | None:
        with self.lock:
            return self.waiting.pop() if self.waiting else None

    def put_back(self, *chunks: tuple[int, int]) -> None:
        with self.lock:
            self.waiting += chunks


class PairPool(Generic[AnyWorker, AnyPairs]):
    """Workers that share the pairs of each run. No result depends on which of them takes a pair.

    `fallback` makes the CPU's worker, for what the others can't do.
    """

    def __init__(self, workers: Sequence[AnyWorker], fallback: Callable[[], AnyWorker]) -> None:
        self.label = ", ".join(worker.label for worker in workers)
        self._workers = list(workers)
        self._make_fallback = fallback
        self._fallback: AnyWorker | None = None
        self._chunk_cells = CHUNK_CELLS

    def run(self, pairs: AnyPairs, work: Callable[[AnyWorker, AnyPairs], Result]) -> list[Result]:
        """The result of `work` for each chunk, in the order of the pairs; of one empty chunk where there are none."""
        job = _Job(pairs, work, chunks_of(pairs, self._chunk_cells, len(self._workers)))
        while job.waiting and self._workers:
            if len(self._workers) == 1:
                self._feed(job, self._workers[0])
            else:
                self._feed_all(job)
        if job.waiting:
            self._feed(job, self._of_the_cpu())
        return [job.results[begin] for begin in sorted(job.results)]

    def _feed_all(self, job: _Job[AnyWorker, AnyPairs, Result]) -> None:
        with ThreadPoolExecutor(len(self._workers)) as threads:
            fed = [threads.submit(self._feed, job, worker) for worker in self._workers]
            try:
                for feed in fed:
                    feed.result()
            except BaseException:
                job.waiting.clear()
                raise

    def _feed(self, job: _Job[AnyWorker, AnyPairs, Result], worker: AnyWorker) -> None:
        """Give a worker chunks until none is left, or it is lost."""
        while (chunk := job.next()) is not None:
            begin, end = chunk
            try:
                job.results[begin] = job.work(worker, job.pairs.part(begin, end))
            except OutOfDeviceMemory:
                if end - begin > 1:
                    log.warning("%s: out of memory; %s pairs at once now", worker.label, f"{(end - begin) // 2:,}")
                    self._chunk_cells = max(
                        1, min(self._chunk_cells, int(job.pairs.part(begin, end).cells_of_each.sum())) // 2
                    )
                    middle = (begin + end) // 2
                    job.put_back((middle, end), (begin, middle))
                else:
                    cpu = self._of_the_cpu()
                    log.warning("%s: out of memory for one pair, which %s takes", worker.label, cpu.label)
                    job.results[begin] = job.work(cpu, job.pairs.part(begin, end))
            except DeviceLost as error:
                self._workers.remove(worker)
                others = ", ".join(other.label for other in self._workers) or self._of_the_cpu().label
                log.warning("%s: lost (%s); %s goes on", worker.label, error.cause, others)
                job.put_back(chunk)
                return

    def _of_the_cpu(self) -> AnyWorker:
        if self._fallback is None:
            self._fallback = self._make_fallback()
        return self._fallback


def chunks_of(pairs: Pairs[Any], most_cells: int, workers: int = 1) -> list[tuple[int, int]]:
    """Consecutive pairs as (begin, end), the last ones first, each of about `most_cells` cells at most.

    Several workers get about equally many cells each.
    """
    if not len(pairs) or (workers == 1 and pairs.cells_at_most <= most_cells):
        return [(0, len(pairs))]
    before = np.cumsum(pairs.cells_of_each)
    total = int(before[-1])
    count = -(-max(1, total) // most_cells)
    if workers > 1 and total >= MIN_SHARED_CELLS:
        count = -(-count // workers) * workers
    ends = np.searchsorted(before, total * np.arange(1, count) // count, side="right")
    borders = np.unique([0, *ends.tolist(), len(pairs)]).tolist()
    return [*pairwise(borders)][::-1]
