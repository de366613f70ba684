"""Scores a batch on one or several devices: chunks, threads that feed the devices, rescue, fallback to the CPU."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, repeat
from typing import ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from pairhmm import backends
from pairhmm.backends import Backend
from pairhmm.errors import DeviceLost, OutOfDeviceMemory
from pairhmm.models.batch import PairBatch, Scores
from pairhmm.native import native

log = logging.getLogger(__name__)


GROWTH = 2  # factor by which the chunks of a batch grow, from one round of the devices to the next
WAIT_SECONDS = 0.1  # seconds that the main thread waits for devices before it looks for Ctrl-C again


class Devices(Protocol):
    """Interface of devices that score batches for one caller."""

    @property
    def label(self) -> str: ...

    @property
    def ahead(self) -> int:
        """Batches that a caller should begin before it takes the scores of the first one."""
        ...

    def begin(self, batch: PairBatch, threads: int = 1) -> Callable[[], Scores]:
        """Start to score a batch on this many CPU threads. The returned function waits for the scores."""


class Stopped(Exception):
    """The scores of a batch are not wanted any more."""


class DevicePool:
    """Devices that share the chunks of each batch. No score depends on which device scores a chunk.

    The pool remembers its devices' limits: a device that ran out of memory gets smaller chunks from then on, and a lost
    device gets none. The CPU scores what no device can, with a warning. Threads may score batches side by side.
    """

    def __init__(self, devices: Sequence[Backend]) -> None:
        self.name = devices[0].name
        self.label = ", ".join(device.label for device in devices)
        self._members = [_Member(device, device.chunk_cells) for device in devices]
        self._lock = threading.Lock()
        self._announced: set[str] = set()

    ahead = 0  # a batch is scored at once

    @property
    def devices(self) -> list[Backend]:
        """All devices in order, lost ones too."""
        return [member.device for member in self._members]

    def begin(self, batch: PairBatch, threads: int = 1) -> Callable[[], Scores]:
        """Score a batch. The function that is returned gives the scores."""
        scores = self.forward(batch, threads)
        return lambda: scores

    def until(self, stop: threading.Event) -> StoppableDevices:
        """The devices, which score no further chunk of a batch once `stop` is set."""
        return StoppableDevices(self, stop)

    def forward(
        self,
        batch: PairBatch,
        threads: int = 1,
        chunk_cells: int | None = None,
        stop: threading.Event | None = None,
        begins_small: bool = True,
    ) -> Scores:
        """Score every pair of a batch, as `pairhmm.engine.forward`.

        Once `stop` is set, no further chunk starts, and Stopped is raised. With `begins_small` the first chunks are
        small, so that devices soon have work; each chunk has a fixed cost.
        """
        stop = threading.Event() if stop is None else stop
        job = _Job(batch.pairs, _Chunks([_Chunk(0, batch)]))
        while members := [member for member in self._members if not member.lost]:
            job.chunks = _Chunks(_split(job.chunks, _chunk_sizes(members, chunk_cells, begins_small), len(members)))
            self._feed_all(job, members, threads, stop)
            if stop.is_set():
                raise Stopped
            if not any(member.lost for member in members):
                break
        self._score_left_chunks(job, threads)
        self._score_unscored_pairs(job, threads)
        return job.scores

    def _feed_all(self, job: _Job, members: Sequence[_Member], threads: int, stop: threading.Event) -> None:
        """Score chunks until none is left, the devices are lost, or `stop` is set."""
        turns = range(max(member.device.concurrency for member in members))
        feeds = [member for turn in turns for member in members if turn < member.device.concurrency]
        # Whether there are several is enough for one device, which begins before the others are cut.
        first = list(islice(job.chunks, len(feeds) if len(members) > 1 else 2))
        job.chunks.put_back(first)
        if not first:
            return
        if len(first) == 1 or len(feeds) == 1:
            self._feed(job, feeds[0], threads, stop)
            return
        if len(members) > 1:
            del feeds[len(first) :]
        else:
            job.take_room(members[0].device)
        from pairhmm.backends.tiles import team  # Only here, so that a run with one feed starts without it.

        threads_each = max(1, threads // len(feeds))
        scores = job.scores  # made here, before several threads ask for it
        running = {self._threads.submit(self._feed, job, member, threads_each, stop) for member in feeds}
        if not job.has_room:
            # Page faults would take a feeding thread longer than the copy of its scores.
            native.touch(team(), scores.log10.view(np.uint8))
            native.touch(team(), scores.precision)
        left = set(running)
        try:
            while left:
                done, left = wait(left, WAIT_SECONDS, FIRST_COMPLETED)
                for feed in done:
                    feed.result()
        except BaseException:
            job.chunks = _Chunks([])
            raise
        finally:
            # Wait for the calls that still run: they write into the job.
            wait(running)

    def _feed(self, job: _Job, member: _Member, threads: int, stop: threading.Event) -> None:
        """Score chunks on one device until none is left; several threads may feed the same device."""
        while not (member.lost or stop.is_set()):
            chunk = next(job.chunks, None)
            if chunk is None:
                return
            if chunk.divisible and chunk.batch.cells > member.chunk_cells:
                job.chunks.put_back(_split([chunk], repeat(member.chunk_cells)))
                continue
            into = job.part(chunk) if job.has_room else None
            try:
                scores = score(chunk.batch, member.device, threads, into)
            except OutOfDeviceMemory as error:
                if error.fits_later:
                    job.chunks.put_back([chunk])
                elif chunk.divisible:
                    self._shrink(member, chunk.batch.cells // 2)
                    job.chunks.put_back([chunk])
                else:
                    job.unfit.append(chunk)
            except DeviceLost as error:
                job.chunks.put_back([chunk])
                self._lose(member, error.cause)
            else:
                job.store(chunk, scores, into)

    def _shrink(self, member: _Member, cells: int) -> None:
        with self._lock:
            if cells < member.chunk_cells:
                member.chunk_cells = cells
                log.warning("%s: out of memory; chunks of %s cells now", member.device.label, f"{cells:,}")

    def _lose(self, member: _Member, cause: str) -> None:
        with self._lock:
            if not member.lost:
                member.lost = True
                left = [other.device.label for other in self._members if not other.lost]
                heirs = ", ".join(left) or f"backend {self._cpu.label}"
                log.warning("%s is lost (%s); its work goes to %s", member.device.label, cause, heirs)

    def _score_left_chunks(self, job: _Job, threads: int) -> None:
        """Score on the CPU the chunks that fit no device, or are left where every device is lost."""
        left = [*job.unfit, *job.chunks]
        if not left:
            return
        if job.unfit:
            self._say_once("reads whose scores do not fit the device's memory")
        for chunk in _split(left, repeat(self._cpu.chunk_cells)):
            job.store(chunk, score(chunk.batch, self._cpu, threads))

    def _score_unscored_pairs(self, job: _Job, threads: int) -> None:
        """Score on the CPU the pairs that a device left unscored."""
        if not job.incomplete:
            return
        self._say_once("pairs that it cannot score")
        for chunk in _split(job.incomplete, repeat(self._cpu.chunk_cells)):
            scores = job.part(chunk)
            pairs = scores.unscored()
            if len(pairs):
                scores.put(pairs, self._cpu.forward_pairs(chunk.batch, pairs, threads))

    def _say_once(self, reason: str) -> None:
        if reason not in self._announced:
            self._announced.add(reason)
            log.warning("backend %s: %s go to backend %s", self.name, reason, self._cpu.label)

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        """Threads for all concurrent calls. They are kept: a small batch takes less time than their start."""
        return ThreadPoolExecutor(sum(member.device.concurrency for member in self._members))

    @cached_property
    def _cpu(self) -> Backend:
        return backends.load(next(name for name in backends.on_the_cpu() if backends.status(name).available))


@dataclass(frozen=True)
class StoppableDevices:
    """Devices of a pool; `begin` raises Stopped once `stop` is set."""

    pool: DevicePool
    stop: threading.Event
    ahead: ClassVar[int] = 0

    @property
    def label(self) -> str:
        return self.pool.label

    def begin(self, batch: PairBatch, threads: int = 1) -> Callable[[], Scores]:
        """Score a batch. The function that is returned gives the scores."""
        scores = self.pool.forward(batch, threads, stop=self.stop)
        return lambda: scores


def score(batch: PairBatch, device: Backend, threads: int, into: Scores | None = None) -> Scores:
    """Score a batch on a device in one call, then rescue the pairs that its fast arithmetic does not hold.

    `into` is a part of the device's room for scores (`Backend.room_for`), where the scores may come to lie.
    """
    is_long = np.zeros(batch.reads, dtype=bool)
    if batch.longest_read > device.longest_fast_read:
        is_long = np.diff(batch.read_offset) > device.longest_fast_read
    # Where all reads are long, a device would send the batch and bring back nothing.
    if is_long.all():
        scores = Scores.none(batch.pairs)
    elif into is None:
        scores = device.forward(batch, is_long, threads)
    else:
        scores = device.forward_into(batch, is_long, threads, into)
    rescued = scores.unscored()
    if len(rescued):
        scores.put(rescued, device.forward_pairs(batch, rescued, threads))
    return scores


@dataclass(slots=True)
class _Member:
    """A device of a pool."""

    device: Backend
    chunk_cells: int  # of its largest chunk from now on
    lost: bool = False


class _Chunk(NamedTuple):
    """Consecutive reads of a batch, as a batch of their own."""

    first_pair: int  # in the whole batch
    batch: PairBatch

    @property
    def scores(self) -> slice:
        return slice(self.first_pair, self.first_pair + self.batch.pairs)

    @property
    def divisible(self) -> bool:
        return self.batch.reads > 1 and self.batch.cells > 1


class _Chunks:
    """Queue of chunks. Each is cut when it is taken, so that devices start before the whole batch is cut."""

    def __init__(self, chunks: Iterable[_Chunk]) -> None:
        self._uncut, self._returned = iter(chunks), deque[_Chunk]()
        self._lock = threading.Lock()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> _Chunk:
        with self._lock:
            return self._returned.popleft() if self._returned else next(self._uncut)

    def put_back(self, chunks: Iterable[_Chunk]) -> None:
        """Put chunks at the head of the queue."""
        with self._lock:
            self._returned.extendleft(reversed([*chunks]))


@dataclass
class _Job:
    """Scores of a batch, and its chunks."""

    pairs: int
    chunks: _Chunks
    unfit: list[_Chunk] = field(default_factory=list)  # too large for a device
    incomplete: list[_Chunk] = field(default_factory=list)  # with unscored pairs
    has_room: bool = False  # whether `scores` are a device's room for scores

    @cached_property
    def scores(self) -> Scores:
        """Empty arrays. A batch of one chunk gets the arrays of that chunk instead."""
        return Scores(np.empty(self.pairs), np.empty(self.pairs, dtype=np.uint8))

    def take_room(self, device: Backend) -> None:
        """Let a device write the scores where it can, unless some are there."""
        room = None if "scores" in vars(self) else device.room_for(self.pairs)
        if room is not None:
            self.scores, self.has_room = room, True

    def part(self, chunk: _Chunk) -> Scores:
        """The part of the scores that is a chunk's."""
        return Scores(self.scores.log10[chunk.scores], self.scores.precision[chunk.scores])

    def store(self, chunk: _Chunk, scores: Scores, into: Scores | None = None) -> None:
        """Keep the scores of a chunk. They may be there already, in its part `into`."""
        if len(scores.log10) == self.pairs:
            self.scores = scores
        elif into is None or scores.log10 is not into.log10:
            self.scores.log10[chunk.scores], self.scores.precision[chunk.scores] = scores.log10, scores.precision
        if len(scores.unscored()):
            self.incomplete.append(chunk)


def _split(chunks: Iterable[_Chunk], sizes: Iterable[int], devices: int = 1) -> Iterator[_Chunk]:
    """The reads in smaller chunks, of at most `sizes` cells (`cut`)."""
    sizes = iter(sizes)
    for first_pair, batch in chunks:
        for chunk in cut(batch, sizes, devices):
            yield _Chunk(first_pair, chunk)
            first_pair += chunk.pairs


def _chunk_sizes(members: Sequence[_Member], limit: int | None, begins_small: bool) -> Iterator[int]:
    """Cells of each chunk, endlessly: with `begins_small` growing, so that every device starts soon."""
    largest = min(member.chunk_cells for member in members)
    if limit is not None:
        largest = max(1, min(largest, limit))
    size = min(member.device.first_chunk_cells for member in members) if begins_small else largest
    while size < largest:
        yield from repeat(size, len(members))
        size *= GROWTH
    yield from repeat(largest)


def cut(batch: PairBatch, sizes: Iterable[int], devices: int = 1) -> Iterator[PairBatch]:
    """Cut a batch into chunks (views), in the batch's order.

    Groups stay whole, because kernels score a group's reads together. Only a group larger than the first size is cut
    between its reads. Chunks of one size have about equally many cells. Their number is a multiple of the devices', so
    that these end at about the same time. `sizes` are the most cells of the first chunk, of the second, and so on;
    endless, and never smaller than the one before. A chunk of one read may have more.
    """
    turns = iter(sizes)
    cells = next(turns)
    if batch.cells <= cells:
        yield batch
        return
    borders, before = _borders(batch, cells)
    first, last = 0, len(borders) - 1
    size = count = 0  # count: chunks of this size that are left
    while first < last:
        left = int(before[last] - before[first])
        if cells != size or left > count * cells:
            size, count = cells, -(-left // (cells * devices)) * devices
        end = last
        if count > 1 and left > 0:
            even = -(-left // count)
            end = int(np.searchsorted(before, before[first] + even))
            if before[end] - before[first] > cells:
                end = max(end - 1, first + 1)
        yield batch.take_reads(int(borders[first]), int(borders[end]))
        first, cells, count = end, next(turns), count - 1


def _borders(batch: PairBatch, cells: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the batch may be cut, as indices of reads (the end of the batch included), and the cells before each."""
    borders, before = [batch.group_read], [batch.group_cells]
    letters = batch.group_letters
    for group in np.flatnonzero(np.diff(batch.group_cells) > cells).tolist():
        first, end = batch.group_read[group : group + 2]
        borders.append(np.arange(first, end))
        bases = batch.read_offset[first:end] - batch.read_offset[first]
        before.append(batch.group_cells[group] + bases * letters[group])
    reads, first = np.unique(np.concatenate(borders), return_index=True)
    return reads, np.concatenate(before)[first]
