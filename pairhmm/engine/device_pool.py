"""Scoring a batch on one device or several: chunks, threads that feed them, the rescue, and what a device cannot do."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm import backends
from pairhmm.backends import Backend
from pairhmm.engine.chunks import cut
from pairhmm.errors import DeviceLost, OutOfDeviceMemory
from pairhmm.models.batch import PairBatch, Scores

log = logging.getLogger(__name__)

GROWTH = 2
"""Of a device's chunks, from one to the next."""

WAIT_SECONDS = 0.1
"""Ctrl-C is heeded between two waits of the main thread."""


class DevicePool:
    """Devices that share the chunks of each batch; no score depends on which of them takes what.

    What is learnt of a device stays: one that ran out of memory gets smaller chunks from then on, and one that was lost
    gets none. What no device can score goes to the CPU, announced. A pool scores one batch at a time.

    Parameters
    ----------
    devices : sequence of Backend
        At least one.
    """

    def __init__(self, devices: Sequence[Backend]) -> None:
        self.name = devices[0].name
        self.label = ", ".join(device.label for device in devices)
        self._devices = [_Device(backend, backend.chunk_cells) for backend in devices]
        self._lock = threading.Lock()
        self._announced: set[str] = set()

    @property
    def backends(self) -> list[Backend]:
        """One a device."""
        return [device.backend for device in self._devices]

    def forward(self, batch: PairBatch, threads: int = 1, chunk_cells: int | None = None) -> Scores:
        """Score every pair of a batch; the parameters are those of `pairhmm.engine.forward`."""
        # Not filled: a page is first touched by the thread that has its scores, while the device computes.
        job = _Job(np.empty(batch.pairs), np.empty(batch.pairs, dtype=np.uint8), deque([_Chunk(0, batch)]))
        while job.chunks and (devices := [device for device in self._devices if not device.lost]):
            job.chunks = deque(_parts(job.chunks, _chunk_sizes(devices, chunk_cells)))
            self._feed_all(job, devices, threads)
        self._score_unscored(job, threads)
        self._score_missing(job, threads)
        return Scores(job.log10, job.precision)

    def _feed_all(self, job: _Job, devices: Sequence[_Device], threads: int) -> None:
        """Score the chunks of a job until none is left, or the devices are lost."""
        turns = range(max(device.backend.concurrency for device in devices))
        feeds = [device for turn in turns for device in devices if turn < device.backend.concurrency]
        del feeds[len(job.chunks) :]
        stop = threading.Event()
        if len(feeds) == 1:
            self._feed(job, feeds[0], threads, stop)
            return
        share = max(1, threads // len(feeds))
        running = {self._threads.submit(self._feed, job, device, share, stop) for device in feeds}
        left = set(running)
        try:
            while left:
                done, left = wait(left, WAIT_SECONDS, FIRST_COMPLETED)
                for feed in done:
                    feed.result()
        finally:
            # What still runs writes into the job.
            stop.set()
            wait(running)

    def _feed(self, job: _Job, device: _Device, threads: int, stop: threading.Event) -> None:
        """Score chunks on one device; several threads may feed the same."""
        while not (device.lost or stop.is_set()):
            try:
                chunk = job.chunks.popleft()
            except IndexError:
                return
            if chunk.divisible and chunk.batch.cells > device.chunk_cells:
                job.chunks.extendleft(reversed(_parts([chunk], repeat(device.chunk_cells))))
                continue
            try:
                scores = score(chunk.batch, device.backend, threads)
            except OutOfDeviceMemory:
                if chunk.divisible:
                    self._shrink(device, chunk.batch.cells // 2)
                    job.chunks.appendleft(chunk)
                else:
                    job.unfit.append(chunk)
            except DeviceLost as error:
                job.chunks.appendleft(chunk)
                self._lose(device, error.cause)
            else:
                job.store(chunk, scores)

    def _shrink(self, device: _Device, cells: int) -> None:
        with self._lock:
            if cells < device.chunk_cells:
                device.chunk_cells = cells
                log.warning("%s: out of memory; chunks of %s cells now", device.backend.label, f"{cells:,}")

    def _lose(self, device: _Device, cause: str) -> None:
        with self._lock:
            if not device.lost:
                device.lost = True
                left = [other.backend.label for other in self._devices if not other.lost]
                heirs = ", ".join(left) or f"backend {self._cpu.label}"
                log.warning("%s is lost (%s); its work goes to %s", device.backend.label, cause, heirs)

    def _score_unscored(self, job: _Job, threads: int) -> None:
        """Score on the CPU what is left of a job: chunks that do not fit, or that have no device any more."""
        if not (job.unfit or job.chunks):
            return
        if job.unfit:
            self._say_once("reads whose scores do not fit the device's memory")
        for chunk in _parts([*job.unfit, *job.chunks], repeat(self._cpu.chunk_cells)):
            job.store(chunk, score(chunk.batch, self._cpu, threads))

    def _score_missing(self, job: _Job, threads: int) -> None:
        """Score on the CPU the pairs that a backend left unscored."""
        if not job.incomplete:
            return
        self._say_once("pairs that it cannot score")
        for chunk in _parts(job.incomplete, repeat(self._cpu.chunk_cells)):
            own = Scores(job.log10[chunk.scores], job.precision[chunk.scores])
            pairs = own.unscored()
            if len(pairs):
                own.put(pairs, self._cpu.forward_pairs(chunk.batch, pairs, threads))

    def _say_once(self, reason: str) -> None:
        if reason not in self._announced:
            self._announced.add(reason)
            log.warning("backend %s: %s go to backend %s", self.name, reason, self._cpu.label)

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        """One for each call that the devices take at once; a batch may be done sooner than a new thread begins."""
        return ThreadPoolExecutor(sum(device.backend.concurrency for device in self._devices))

    @cached_property
    def _cpu(self) -> Backend:
        return backends.load(next(name for name in backends.on_the_cpu() if backends.status(name).available))


def score(batch: PairBatch, backend: Backend, threads: int) -> Scores:
    """Score a batch in one piece: fast arithmetic, and the backend's other one for what that does not hold."""
    is_long = np.diff(batch.read_offset) > backend.longest_fast_read
    scores = backend.forward(batch, is_long, threads)
    rescued = scores.unscored()
    if len(rescued):
        scores.put(rescued, backend.forward_pairs(batch, rescued, threads))
    return scores


@dataclass(slots=True)
class _Device:
    """A backend, and what was learnt of it."""

    backend: Backend
    chunk_cells: int
    lost: bool = False


class _Chunk(NamedTuple):
    """A run of a batch's reads, and where its pairs stand in the batch."""

    first_pair: int
    batch: PairBatch

    @property
    def scores(self) -> slice:
        return slice(self.first_pair, self.first_pair + self.batch.pairs)

    @property
    def divisible(self) -> bool:
        return self.batch.reads > 1 and self.batch.cells > 1


@dataclass(slots=True)
class _Job:
    """The scores of a batch, and chunks of it: still to be scored, too large for a device, or with NaN among them."""

    log10: NDArray[np.float64]
    precision: NDArray[np.uint8]
    chunks: deque[_Chunk]
    unfit: list[_Chunk] = field(default_factory=list)
    incomplete: list[_Chunk] = field(default_factory=list)

    def store(self, chunk: _Chunk, scores: Scores) -> None:
        if len(scores.log10) == len(self.log10):
            self.log10, self.precision = scores.log10, scores.precision
        else:
            self.log10[chunk.scores], self.precision[chunk.scores] = scores.log10, scores.precision
        if len(scores.unscored()):
            self.incomplete.append(chunk)


def _parts(chunks: Iterable[_Chunk], sizes: Iterable[int]) -> list[_Chunk]:
    """The chunks, cut where they have more cells than that (`pairhmm.engine.chunks.cut`)."""
    parts = []
    sizes = iter(sizes)
    for first_pair, batch in chunks:
        for part in cut(batch, sizes):
            parts.append(_Chunk(first_pair, part))
            first_pair += part.pairs
    return parts


def _chunk_sizes(devices: Sequence[_Device], most: int | None) -> Iterator[int]:
    """Small chunks first, so that every device soon computes; the more it has to do, the larger those that follow."""
    largest = min(device.chunk_cells for device in devices)
    if most is not None:
        largest = max(1, min(largest, most))
    size = min(device.backend.first_chunk_cells for device in devices)
    while size < largest:
        yield from repeat(size, len(devices))
        size *= GROWTH
    yield from repeat(largest)
