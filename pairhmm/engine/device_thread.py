"""Scores batches on devices in a thread of its own, while the callers make the next batches and use earlier scores."""

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
from pairhmm.models.joined import can_be_joined, joined_batches

log = logging.getLogger(__name__)

MOST_JOINED = 20_000_000_000
"""Cells of batches that are scored together. A device has work for a millisecond then, and memory stays small. To join
more takes longer than it saves."""

# Calls of a pool that run at once: while devices compute one batch, the next one is packed.
_AT_ONCE = 2


class _Request(NamedTuple):
    batch: PairBatch
    answer: Future[Scores]


class DeviceThread:
    """Devices with a thread, in which they start and score; a context manager that ends it.

    Batches are begun in the order in which they come, two at a time where devices take several calls. Those that wait
    meanwhile are scored together: so small batches become large ones where the devices are slower than the callers, and
    nothing waits where they are not.

    Parameters
    ----------
    start : callable
        Makes the devices ready. What it raises is raised where scores are taken, and by `label`.
    threads : int
        CPU threads for each call of the pool.

    Attributes
    ----------
    ahead : int
        How many batches a caller should begin before it takes the scores of the first one.
    """

    ahead = 2

    def __init__(self, start: Callable[[], DevicePool], threads: int) -> None:
        self._start, self._threads_each = start, threads
        self._pool: Future[DevicePool] = Future()
        self._requests: SimpleQueue[_Request | None] = SimpleQueue()
        self._stop = threading.Event()
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
        """End the thread. What it scores now is given up after the chunks that the devices have."""
        self._stop.set()
        self._requests.put(None)
        if self._thread is not None:
            self._thread.join()

    def begin(self, batch: PairBatch, threads: int = 1) -> Callable[[], Scores]:
        """Give a batch to the devices. The function that comes back waits for the scores."""
        answer = self.submit(batch)
        return lambda: _result(answer)

    def submit(self, batch: PairBatch) -> Future[Scores]:
        """Give a batch to the devices. The result may be set in another thread."""
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
        beside = [_thread(self._score_requests) for _ in range(self._beside())]
        started = []
        # Where the system refuses a thread, the others do the work.
        with suppress(RuntimeError):
            for thread in beside:
                thread.start()
                started.append(thread)
        self._score_requests()
        for thread in started:
            thread.join()

    def _beside(self) -> int:
        """How many calls of the pool are worth making beside one."""
        if self._pool.exception() is not None:
            return 0
        return min(_AT_ONCE, *(device.concurrency for device in self._pool.result().devices)) - 1

    def _score_requests(self) -> None:
        ahead: _Request | None = None
        while (first := ahead or self._requests.get()) is not None:
            together, ahead = self._waiting_with(first)
            self._score(together)
        # For the threads beside this one.
        self._requests.put(None)

    def _waiting_with(self, first: _Request) -> tuple[list[_Request], _Request | None]:
        """Requests that wait and can be scored with the first one, and one more that was taken but can't."""
        together, cells = [first], first.batch.cells
        while not self._stop.is_set():
            try:
                request = self._requests.get_nowait()
            except Empty:
                break
            if request is None:
                self._requests.put(None)
                break
            cells += request.batch.cells
            if cells > MOST_JOINED or not can_be_joined(first.batch, request.batch):
                return together, request
            together.append(request)
        return together, None

    def _score(self, requests: Sequence[_Request]) -> None:
        """Score some batches together, and set their results."""
        try:
            batch = joined_batches([request.batch for request in requests])
            scores = self._pool.result().forward(batch, self._threads_each, stop=self._stop, begins_small=False)
        except BaseException as error:
            for request in requests:
                request.answer.set_exception(error)
            return
        done = 0
        for request in requests:
            own = slice(done, done := done + request.batch.pairs)
            request.answer.set_result(Scores(scores.log10[own], scores.precision[own]))


def _thread(work: Callable[[], None]) -> threading.Thread:
    # A daemon: Python would wait for another thread before it closes generators (`pairhmm.process`).
    return threading.Thread(target=work, name="pairhmm devices", daemon=True)


_Result = TypeVar("_Result")


def _result(answer: Future[_Result]) -> _Result:
    """What another thread has made, once it is there. Ctrl-C ends the wait."""
    while True:
        try:
            return answer.result(WAIT_SECONDS)
        except StillRunning:
            if answer.done():
                raise
