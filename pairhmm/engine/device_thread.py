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

WORTH_A_CALL = 400_000_000
"""Cells of a batch from which on a device pays: a thread of the CPU takes about 20 ms for them, several times what it
takes to hand them over."""

_CONCURRENT_CALLS = 2  # of a pool: one batch is packed while the devices compute another


_Result = TypeVar("_Result")


class _Request(NamedTuple):
    batch: PairBatch
    answer: Future[Scores]


class DeviceThread:
    """The thread in which devices start and score; a context manager that ends it.

    Devices start with the first batch. Batches start in order, two at a time where devices take several calls. Batches
    that wait meanwhile are merged. Callers take back what no device has begun, so that none waits while devices start
    and compile their kernels. Once `stop` is set, no further chunk is scored.

    Parameters
    ----------
    label : str
        The devices' names in messages.
    start : callable
        Makes the devices ready. Its errors are raised where scores are taken.
    check : callable
        Raises what would keep devices from starting. It is called at once, while callers read.
    """

    ahead = 2  # batches that a caller should begin before it takes the scores of the first one

    def __init__(
        self,
        label: str,
        start: Callable[[], DevicePool],
        threads: int,
        stop: threading.Event | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self.label = label
        self._start, self._threads_each, self._check = start, threads, check
        self._checked: Future[None] = Future()
        self._pool: Future[DevicePool] = Future()
        self._is_wanted = self._has_scored = False
        self._cells = {True: 0, False: 0}  # that devices scored, and the CPU
        self._counting = threading.Lock()
        self._requests: SimpleQueue[_Request | None] = SimpleQueue()
        self._stop = stop or threading.Event()
        self._thread: threading.Thread | None = _thread(self._serve)

    def __enter__(self) -> Self:
        assert self._thread is not None
        try:
            self._thread.start()
        except RuntimeError:
            # The system refused to start a thread (a limit on processes or memory).
            self._thread = None
            _settle(self._checked, self._check)
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
        return lambda: result_of(answer)

    def submit(self, batch: PairBatch) -> Future[Scores]:
        """Queue a batch. The result may be set in another thread. Whoever cancels it takes the batch back."""
        request = _Request(batch, Future())
        self._is_wanted = True
        if self._thread is None:
            if not self._pool.done():
                _settle(self._pool, self._start)
            self._score([request])
        else:
            self._requests.put(request)
        return request.answer

    def count(self, cells: int, on_device: bool = False) -> None:
        """Note that so many cells were scored. Raises what keeps the devices from starting, once that is known."""
        for start in (self._checked, self._pool):
            if start.done():
                start.result()
        with self._counting:
            self._cells[on_device] += cells

    def conclude(self) -> None:
        """Say what was scored where. Raises what keeps the devices from starting, although nothing was to be scored."""
        result_of(self._checked)
        if not self._is_wanted:
            log.info("%s is not needed: the CPU scores such regions in less time than a call takes", self.label)
            return
        result_of(self._pool)
        share = self._cells[True] / max(1, sum(self._cells.values()))
        log.info("%s scored %.0f%% of all cells, the CPU the others", self.label, 100 * share)

    def _serve(self) -> None:
        _settle(self._checked, self._check)
        first = self._requests.get()
        if first is None:
            return
        _settle(self._pool, self._start)
        started = []
        with suppress(RuntimeError):  # where the system refuses a thread, the others do the work
            for _ in range(self._calls() - 1):
                thread = _thread(self._score_requests)
                thread.start()
                started.append(thread)
        self._score_requests(first)
        for thread in started:
            thread.join()

    def _calls(self) -> int:
        """The number of concurrent calls that the pool can use."""
        if self._pool.exception() is not None:
            return 1
        return min(_CONCURRENT_CALLS, *(device.concurrency for device in self._pool.result().devices))

    def _score_requests(self, next_request: _Request | None = None) -> None:
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
        """Score the batches of some requests as one, and set their results.

        The first call compiles kernels, so callers may take its batches back until it ends.
        """
        claims_late = not self._has_scored
        if not claims_late:
            requests = _claimed(requests)
        if not requests:
            return
        try:
            batch = merge_batches([request.batch for request in requests])
            scores = self._pool.result().forward(batch, self._threads_each, stop=self._stop, begins_small=False)
        except BaseException as error:
            for request in requests:
                if not claims_late or _claimed([request]):
                    request.answer.set_exception(error)
            return
        done = 0
        for request in requests:
            pairs = slice(done, done := done + request.batch.pairs)
            if not claims_late or _claimed([request]):
                request.answer.set_result(Scores(scores.log10[pairs], scores.precision[pairs]))
                self.count(request.batch.cells, on_device=True)
        self._has_scored = True


def _claimed(requests: Sequence[_Request]) -> list[_Request]:
    """The requests that nobody has taken back; from now on, nobody can."""
    return [request for request in requests if request.answer.set_running_or_notify_cancel()]


def _settle(future: Future[_Result], work: Callable[[], _Result]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(error)


def _thread(work: Callable[[], None]) -> threading.Thread:
    # A daemon: Python would wait for another thread before it closes generators (`pairhmm.process`).
    return threading.Thread(target=work, name="pairhmm devices", daemon=True)


def result_of(answer: Future[_Result]) -> _Result:
    """Wait for a result of another thread. Ctrl-C ends the wait."""
    while True:
        try:
            return answer.result(WAIT_SECONDS)
        except StillRunning:
            if answer.done():
                raise
