"""Background threads: one prefetches the next item of an iterator, another writes results."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from contextvars import copy_context
from functools import cache
from itertools import chain, islice
from threading import Thread
from typing import Self, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")

_PATIENCE = 1.0
"""Seconds to wait for the thread when no more items are wanted.

A thread must not be in compiled code when the program ends, so it gets time to finish. A thread that waits for a pipe
would not finish, and is left behind.
"""


def prefetch(items: Iterator[T]) -> Generator[T]:
    """Yield the items. A thread makes each one while the caller works on the one before. Its errors are raised here."""
    thread, future = _start(items)
    try:
        while (item := future.result()) is not None:
            thread, future = _start(items)
            yield item
    finally:
        if thread.ident is not None:
            thread.join(_PATIENCE)


@contextmanager
def begun_prefetch(items: Iterator[T]) -> Generator[tuple[list[T], Iterator[T]]]:
    """The first item, if there is one, and all of them, which are prefetched.

    Input that can't be used shows here, before the caller opens an output: nothing half-written stays, and stdout has
    no header yet.
    """
    with closing(prefetch(items)) as ahead:
        first = [*islice(ahead, 1)]
        yield first, chain(first, ahead)


@cache
def _say_once(message: str) -> None:
    log.warning(message)


def _start(items: Iterator[T]) -> tuple[Thread, Future[T | None]]:
    future: Future[T | None] = Future()

    def make() -> None:
        try:
            future.set_result(next(items, None))
        except BaseException as error:
            future.set_exception(error)

    # The thread is a daemon, so that the program can end while it waits for a pipe.
    # It belongs to the run of the caller (`pairhmm.files.destinations`).
    thread = Thread(target=copy_context().run, args=(make,), daemon=True)
    try:
        thread.start()
    except RuntimeError:
        # The system refused to start a thread (a limit on processes or memory), so the caller makes the items.
        _say_once("no thread could be started to read ahead: reading and computing take turns")
        make()
    return thread, future


class BackgroundWriter:
    """Does the work of writing, in order: in a thread where there are two threads or more, else at once.

    One job waits or runs in the thread while the caller makes the next one. Worthwhile only for jobs well over 0.1 ms
    that release the GIL.

    `threads`: threads that the command may use.
    """

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(1) if threads > 1 else None
        self._given: Future[None] | None = None

    def run(self, work: Callable[[], None]) -> None:
        """Do some work after that which was given before. What that raised is raised here."""
        self._wait()
        if self._pool is not None:
            try:
                self._given = self._pool.submit(work)
                return
            except RuntimeError:
                # The system refused to start a thread (a limit on processes or memory), so the caller does the work.
                log.warning("no thread could be started to write: computing and writing take turns")
                self._pool = None
        work()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *unused: object) -> None:
        try:
            if kind is None:
                self._wait()
        finally:
            if self._pool is not None:
                self._pool.shutdown()

    def _wait(self) -> None:
        pending, self._given = self._given, None
        if pending is not None:
            pending.result()
