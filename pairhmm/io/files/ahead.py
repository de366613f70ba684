"""Reads ahead: the next item is made while the caller works on this one."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager
from contextvars import copy_context
from functools import cache
from itertools import chain, islice
from threading import Thread
from typing import TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")

_PATIENCE = 1.0
"""Seconds to wait for the thread when no more items are wanted.

A thread must not be in compiled code when the program ends, so it gets time to finish. A thread that waits for a pipe
would not finish, and is left behind.
"""


def read_ahead(items: Iterator[T]) -> Generator[T]:
    """Yield the items. A thread makes each one while the caller works on the one before. Its errors are raised here."""
    thread, made = _start(items)
    try:
        while (item := made.result()) is not None:
            thread, made = _start(items)
            yield item
    finally:
        if thread.ident is not None:
            thread.join(_PATIENCE)


def begun(items: Iterator[T]) -> tuple[list[T], Iterator[T]]:
    """The first item, if there is one, and all of them, the first again.

    Input that can't be used shows before an output is opened, which therefore stays as it was.
    """
    first = [*islice(items, 1)]
    return first, chain(first, items)


@contextmanager
def begun_ahead(items: Iterator[T]) -> Generator[tuple[list[T], Iterator[T]]]:
    """The first item, if there is one, and all of them, which are read ahead.

    Input that can't be used shows here, before the caller opens an output: nothing half-written stays, and stdout has
    no header yet.
    """
    with closing(read_ahead(items)) as ahead:
        first = [*islice(ahead, 1)]
        yield first, chain(first, ahead)


@cache
def _say_once(message: str) -> None:
    log.warning(message)


def _start(items: Iterator[T]) -> tuple[Thread, Future[T | None]]:
    made: Future[T | None] = Future()

    def make() -> None:
        try:
            made.set_result(next(items, None))
        except BaseException as error:
            made.set_exception(error)

    # The thread is a daemon, so that the program can end while it waits for a pipe.
    # It belongs to the run of the caller (`pairhmm.io.files.destinations`).
    thread = Thread(target=copy_context().run, args=(make,), daemon=True)
    try:
        thread.start()
    except RuntimeError:
        # The system refused to start a thread (a limit on processes or memory), so the caller makes the items.
        _say_once("no thread could be started to read ahead: reading and computing take turns")
        make()
    return thread, made
