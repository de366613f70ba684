"""Work on pairs by one or several devices: in chunks, halved where memory runs out, by the CPU once they are lost."""

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
"""About the most cells of one call. A run can be interrupted between two calls, and several devices share the calls."""

LEAST_CELLS = 1 << 30
"""Several devices do not share less: a call takes a device longer than its cells do."""


Found = TypeVar("Found")


@dataclass(slots=True)
class _Job(Generic[AnyWorker, AnyPairs, Found]):
    """Chunks of pairs that wait, as (begin, end), the last one next; and what was found of those that are done."""

    pairs: AnyPairs
    work: Callable[[AnyWorker, AnyPairs], Found]
    waiting: list[tuple[int, int]]
    found: dict[int, Found] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self) -> tuple[int, int] | None:
        with self.lock:
            return self.waiting.pop() if self.waiting else None

    def put_back(self, *chunks: tuple[int, int]) -> None:
        with self.lock:
            self.waiting += chunks


class PairPool(Generic[AnyWorker, AnyPairs]):
    """Workers that share the pairs of each run. No result depends on which of them takes a pair.

    Parameters
    ----------
    workers : sequence
        At least one.
    instead : callable
        Makes the worker for what these can't do: the CPU's.

    Attributes
    ----------
    label : str
        The names of all workers.
    """

    def __init__(self, workers: Sequence[AnyWorker], instead: Callable[[], AnyWorker]) -> None:
        self.label = ", ".join(worker.label for worker in workers)
        self._workers = list(workers)
        self._make_instead = instead
        self._instead: AnyWorker | None = None
        self._chunk_cells = CHUNK_CELLS

    def run(self, pairs: AnyPairs, work: Callable[[AnyWorker, AnyPairs], Found]) -> list[Found]:
        """What `work` makes of each chunk, in the pairs' order. Without pairs there is one chunk, without any."""
        job = _Job(pairs, work, chunks_of(pairs, self._chunk_cells, len(self._workers)))
        while job.waiting and self._workers:
            if len(self._workers) == 1:
                self._feed(job, self._workers[0])
            else:
                self._feed_all(job)
        if job.waiting:
            self._feed(job, self._of_the_cpu())
        return [job.found[begin] for begin in sorted(job.found)]

    def _feed_all(self, job: _Job[AnyWorker, AnyPairs, Found]) -> None:
        with ThreadPoolExecutor(len(self._workers)) as threads:
            fed = [threads.submit(self._feed, job, worker) for worker in self._workers]
            try:
                for one in fed:
                    one.result()
            except BaseException:
                job.waiting.clear()
                raise

    def _feed(self, job: _Job[AnyWorker, AnyPairs, Found], worker: AnyWorker) -> None:
        """Give a worker chunks until none is left, or it is lost."""
        while (chunk := job.next()) is not None:
            begin, end = chunk
            try:
                job.found[begin] = job.work(worker, job.pairs.part(begin, end))
            except OutOfDeviceMemory:
                if end - begin > 1:
                    log.warning("%s: out of memory; %s pairs at once now", worker.label, f"{(end - begin) // 2:,}")
                    self._chunk_cells = max(
                        1, min(self._chunk_cells, int(job.pairs.part(begin, end).cells_of_each.sum())) // 2
                    )
                    middle = (begin + end) // 2
                    job.put_back((middle, end), (begin, middle))
                else:
                    instead = self._of_the_cpu()
                    log.warning("%s: out of memory for one pair, which %s takes", worker.label, instead.label)
                    job.found[begin] = job.work(instead, job.pairs.part(begin, end))
            except DeviceLost as error:
                self._workers.remove(worker)
                others = ", ".join(one.label for one in self._workers) or self._of_the_cpu().label
                log.warning("%s: lost (%s); %s goes on", worker.label, error.cause, others)
                job.put_back(chunk)
                return

    def _of_the_cpu(self) -> AnyWorker:
        if self._instead is None:
            self._instead = self._make_instead()
        return self._instead


def chunks_of(pairs: Pairs[Any], most_cells: int, workers: int = 1) -> list[tuple[int, int]]:
    """Consecutive pairs as (begin, end), the last ones first, each of about `most_cells` cells at most.

    Several workers get about equally many cells each.
    """
    if not len(pairs) or (workers == 1 and pairs.cells_at_most <= most_cells):
        return [(0, len(pairs))]
    before = np.cumsum(pairs.cells_of_each)
    total = int(before[-1])
    count = -(-max(1, total) // most_cells)
    if workers > 1 and total >= LEAST_CELLS:
        count = -(-count // workers) * workers
    ends = np.searchsorted(before, total * np.arange(1, count) // count, side="right")
    borders = np.unique([0, *ends.tolist(), len(pairs)]).tolist()
    return [*pairwise(borders)][::-1]
