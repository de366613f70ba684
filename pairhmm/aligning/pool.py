"""Aligns on one or several devices: in chunks, halved where memory runs out, and on the CPU once they are lost."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from pairhmm.aligning.base import Aligner
from pairhmm.aligning.batch import Alignments, SequencePairs
from pairhmm.aligning.scoring import Scoring
from pairhmm.errors import DeviceLost, OutOfDeviceMemory
from pairhmm.genomics.arrays import joined

log = logging.getLogger(__name__)

CHUNK_CELLS = 1 << 37
"""About the most cells of one call. A run can be interrupted between two calls, and several devices share the calls."""

LEAST_CELLS = 1 << 30
"""Several devices do not share less: a call takes a device longer than its cells do."""

Found = TypeVar("Found")


@dataclass(slots=True)
class _Job(Generic[Found]):
    """Chunks of pairs that wait, as (begin, end), the last one next; and what was found of those that are done."""

    pairs: SequencePairs
    work: Callable[[Aligner, SequencePairs], Found]
    waiting: list[tuple[int, int]]
    found: dict[int, Found] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self) -> tuple[int, int] | None:
        with self.lock:
            return self.waiting.pop() if self.waiting else None

    def put_back(self, *chunks: tuple[int, int]) -> None:
        with self.lock:
            self.waiting += chunks


class AlignerPool(Aligner):
    """Aligners that share the pairs of each call. No result depends on which of them aligns a pair.

    Parameters
    ----------
    aligners : sequence of Aligner
        At least one.
    instead : callable
        Makes the aligner for what these can't align: the CPU's.
    """

    def __init__(self, aligners: Sequence[Aligner], instead: Callable[[], Aligner]) -> None:
        self.label = ", ".join(aligner.label for aligner in aligners)
        self._aligners = list(aligners)
        self._make_instead, self._instead = instead, None
        self._chunk_cells = CHUNK_CELLS

    _instead: Aligner | None

    def scores(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> NDArray[np.int32]:
        """The score of each pair's best alignment (int32), on `threads` CPU threads."""
        return joined(self._run(pairs, lambda one, chunk: one.scores(chunk, scoring, threads)), np.int32)

    def alignments(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> Alignments:
        """The best alignment of each pair, on `threads` CPU threads."""
        return Alignments.concatenate(self._run(pairs, lambda one, chunk: one.alignments(chunk, scoring, threads)))

    def _run(self, pairs: SequencePairs, work: Callable[[Aligner, SequencePairs], Found]) -> list[Found]:
        job = _Job(pairs, work, chunks_of(pairs, self._chunk_cells, len(self._aligners)))
        while job.waiting and self._aligners:
            if len(self._aligners) == 1:
                self._feed(job, self._aligners[0])
            else:
                self._feed_all(job)
        if job.waiting:
            self._feed(job, self._of_the_cpu())
        return [job.found[begin] for begin in sorted(job.found)]

    def _feed_all(self, job: _Job[Found]) -> None:
        with ThreadPoolExecutor(len(self._aligners)) as threads:
            fed = [threads.submit(self._feed, job, aligner) for aligner in self._aligners]
            try:
                for one in fed:
                    one.result()
            except BaseException:
                job.waiting.clear()
                raise

    def _feed(self, job: _Job[Found], aligner: Aligner) -> None:
        """Give an aligner chunks until none is left, or it is lost."""
        while (chunk := job.next()) is not None:
            begin, end = chunk
            try:
                job.found[begin] = job.work(aligner, job.pairs.part(begin, end))
            except OutOfDeviceMemory:
                if end - begin > 1:
                    log.warning("%s: out of memory; %s pairs at once now", aligner.label, f"{(end - begin) // 2:,}")
                    self._chunk_cells = max(1, min(self._chunk_cells, job.pairs.part(begin, end).cells) // 2)
                    middle = (begin + end) // 2
                    job.put_back((middle, end), (begin, middle))
                else:
                    instead = self._of_the_cpu()
                    log.warning("%s: out of memory for one pair, which %s aligns", aligner.label, instead.label)
                    job.found[begin] = job.work(instead, job.pairs.part(begin, end))
            except DeviceLost as error:
                self._aligners.remove(aligner)
                others = ", ".join(one.label for one in self._aligners) or self._of_the_cpu().label
                log.warning("%s: lost (%s); %s goes on", aligner.label, error.cause, others)
                job.put_back(chunk)
                return

    def _of_the_cpu(self) -> Aligner:
        if self._instead is None:
            self._instead = self._make_instead()
        return self._instead


def chunks_of(pairs: SequencePairs, most_cells: int, aligners: int = 1) -> list[tuple[int, int]]:
    """Consecutive pairs as (begin, end), the last ones first, each of about `most_cells` cells at most.

    Several aligners get about equally many cells each.
    """
    if not len(pairs):
        return [(0, 0)]
    before = np.cumsum(pairs.cells_of_each)
    total = int(before[-1])
    count = -(-max(1, total) // most_cells)
    if aligners > 1 and total >= LEAST_CELLS:
        count = -(-count // aligners) * aligners
    ends = np.searchsorted(before, total * np.arange(1, count) // count, side="right")
    borders = np.unique([0, *ends.tolist(), len(pairs)]).tolist()
    return [*pairwise(borders)][::-1]
