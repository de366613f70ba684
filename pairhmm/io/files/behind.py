"""Writes behind: an output is written while the caller makes what comes next."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

log = logging.getLogger(__name__)


class WriteBehind:
    """Does the work of writing, in order: in a thread where there are two threads or more, else at once.

    One piece of work waits or runs in the thread while the caller makes the next one. It should be long beside the
    tenth of a millisecond that handing it over takes, and mostly compiled code that does without Python's lock.

    Parameters
    ----------
    threads : int
        Threads that the command may use.
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
        given, self._given = self._given, None
        if given is not None:
            given.result()
