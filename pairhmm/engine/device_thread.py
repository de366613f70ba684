"""A thread that scores batches on devices, while its callers prepare the next batches and use earlier scores."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillRunning
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import NamedTuple, Self, TypeVar

from pairhmm.engine.device_pool import WAIT_SECONDS, DevicePool
from pairhmm.models.batch import PairBatch, Scores
from pairhmm.models.merging import can_merge, merge_batches

log = logging.getLogger(__name__)

MAX_MERGED_CELLS = 20_000_000_000
"""Largest merged batch, in cells: about 1 ms of GPU work. Merging more costs more than it saves."""

_CONCURRENT_CALLS = 2  # of a pool: one batch is packed while the devices compute another


class _Request(NamedTuple):
    batch: PairBatch
    answer: Future[Scores]


class DeviceThread:
    """The thread in which devices start and score; a context manager that ends it.

    Batches start in order, two at a time where devices take several calls. Batches that wait meanwhile are merged.
    Errors of `start`, which makes the devices ready, are raised where scores are taken. Once `stop` is set, no further
    chunk is scored.
    """

    ahead = 2  # batches that a caller should begin before it takes the scores of the first one

    def __init__(self, start: Callable[[], DevicePool], threads: int, stop: threading.Event | None = None) -> None:
        self._start, self._threads_each = start, threads
        self._pool: Future[DevicePool] = Future()
        self._requests: SimpleQueue[_Request | None] = SimpleQueue()
        self._stop = stop or threading.Event()
        self._thread: threading.Thread | None = _thread(self._serve)

    @property
    def label(self) -> str:
        """The labels of the devices, once they have started."""
        return _result(self._pool).label

    def __enter__(self) -> Self:
        assert self._thread is not None
        try:
            self._thread.start()
        except RuntimeError:
            # The system refused to start a thread (a limit on processes or memory).
            self._thread = None
            self._begin()
            log.warning("no thread could be started for %s: reading and scoring take turns", self.label)
        return self

    def __exit__(self, *unused: object) -> None:
        """End the thread after the chunks that the devices compute now."""
        self._stop.set()
        self._requests.put(None)
        if self._thread is not None:
            self._thread.join()

    def begin(self, batch: PairBatch, threads: int = 1) -> Callable[[], Scores]:
        """Queue a batch. The function that is returned waits for its scores."""
        answer = self.submit(batch)
        return lambda: _result(answer)

    def submit(self, batch: PairBatch) -> Future[Scores]:
        """Queue a batch. The result may be set in another thread."""
        request = _Request(batch, Future())
        if self._thread is None:
            self._score([request])
        else:
            self._requests.put(request)
        return request.answer

    def _begin(self) -> None:
        try:
            self._pool.set_result(self._start())
        except BaseException as error:
            self._pool.set_exception(error)

    def _serve(self) -> None:
        self._begin()
        started = []
        with suppress(RuntimeError):  # where the system refuses a thread, the others do the work
            for _ in range(self._calls() - 1):
                thread = _thread(self._score_requests)
                thread.start()
                started.append(thread)
        self._score_requests()
        for thread in started:
            thread.join()

    def _calls(self) -> int:
        """The number of concurrent calls that the pool can use."""
        if self._pool.exception() is not None:
            return 1
        return min(_CONCURRENT_CALLS, *(device.concurrency for device in self._pool.result().devices))

    def _score_requests(self) -> None:
        next_request: _Request | None = None
        while (first := next_request or self._requests.get()) is not None:
            mergeable, next_request = self._mergeable(first)
            self._score(mergeable)
        self._requests.put(None)  # for the other threads

    def _mergeable(self, first: _Request) -> tuple[list[_Request], _Request | None]:
        """Queued requests that can be merged with the first one, and the next one that can't."""
        mergeable, cells = [first], first.batch.cells
        while not self._stop.is_set():
            try:
                request = self._requests.get_nowait()
            except Empty:
                break
            if request is None:
                self._requests.put(None)
                break
            cells += request.batch.cells
            if cells > MAX_MERGED_CELLS or not can_merge(first.batch, request.batch):
                return mergeable, request
            mergeable.append(request)
        return mergeable, None

    def _score(self, requests: Sequence[_Request]) -> None:
        """Score the batches of some requests as one, and set their results."""
        try:
            batch = merge_batches([request.batch for request in requests])
            scores = self._pool.result().forward(batch, self._threads_each, stop=self._stop, begins_small=False)
        except BaseException as error:
            for request in requests:
                request.answer.set_exception(error)
            return
        done = 0
        for request in requests:
            pairs = slice(done, done := done + request.batch.pairs)
            request.answer.set_result(Scores(scores.log10[pairs], scores.precision[pairs]))


def _thread(work: Callable[[], None]) -> threading.Thread:
    # A daemon: Python would wait for another thread before it closes generators (`pairhmm.process`).
    return threading.Thread(target=work, name="pairhmm devices", daemon=True)


_Result = TypeVar("_Result")


def _result(answer: Future[_Result]) -> _Result:
    """Wait for a result of another thread. Ctrl-C ends the wait."""
    while True:
        try:
            return answer.result(WAIT_SECONDS)
        except StillRunning:
            if answer.done():
                raise
