"""Generators that a script has left before their end are closed when the interpreter ends."""

from __future__ import annotations

import atexit
from collections.abc import Generator
from contextlib import suppress
from typing import TypeVar
from weakref import WeakSet

T = TypeVar("T")

_open: WeakSet[Generator[object]] = WeakSet()


def closed_at_exit(generator: Generator[T]) -> Generator[T]:
    """The generator. If it is still there when the interpreter ends, it is closed, and with it all that it opened.

    Python would do so only after it has waited for processes and threads, which wait for the generator.
    """
    _open.add(generator)
    return generator


@atexit.register
def _close() -> None:
    for generator in list(_open):
        # Daemons may run it. They stop where they are when the interpreter ends.
        with suppress(ValueError):
            generator.close()
