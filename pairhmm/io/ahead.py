"""Reading while something else computes."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

T = TypeVar("T")

_PATIENCE = 1.0
"""Seconds that an item gets to be made when nobody wants it any more: a thread must not be in compiled code when the
program ends. One that waits for a pipe is left waiting."""


def read_ahead(items: Iterator[T]) -> Generator[T]:
    """The items, each made in a thread while the caller works on the one before it; what that raises is raised here."""
    thread, made = _start(items)
    try:
        while (item := made.result()) is not None:
            thread, made = _start(items)
            yield item
    finally:
        thread.join(_PATIENCE)


def _start(items: Iterator[T]) -> tuple[Thread, Future[T | None]]:
    made: Future[T | None] = Future()

    def make() -> None:
        try:
            made.set_result(next(items, None))
        except BaseException as error:
            made.set_exception(error)

    # A daemon: the program can end while it waits for a pipe.
    thread = Thread(target=make, daemon=True)
    thread.start()
    return thread, made
