"""Silences the messages of htslib and pysam on stderr. Callers report each error once, in one line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

UNREADABLE = (
    *(OSError, ValueError, NotImplementedError),
    *(ArithmeticError, AssertionError, LookupError, RuntimeError, SystemError, TypeError),
)
"""Exceptions that pysam raises for files that it can't read: the first by design, the others where it fails."""

_NOT_CLOSED = "Closing failed"


@contextmanager
def quiet() -> Iterator[None]:
    """Keep htslib quiet on stderr, and pysam when it can't close a file that it could not open.

    Such blocks may overlap in several threads and end in any order. The last one to end restores the messages.
    """
    _silence.begin()
    try:
        yield
    finally:
        _silence.end()


class _Silence:
    """Counts the open `quiet` blocks, and keeps the function that restores the messages."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._wanted = 0
        self._restore: Callable[[], None] = lambda: None

    def begin(self) -> None:
        with self._lock:
            if not self._wanted:
                self._restore = _hush()
            self._wanted += 1

    def end(self) -> None:
        with self._lock:
            self._wanted -= 1
            if not self._wanted:
                self._restore()


_silence = _Silence()


def _hush() -> Callable[[], None]:
    """Silence both. Returns a function that undoes it."""
    import pysam  # Loading pysam takes as long as a .in file of 50 MB, which does not need it.

    verbosity, told, unraisable = pysam.set_verbosity(0), sys.excepthook, sys.unraisablehook
    # An exception that Cython can't raise is printed twice: as an error, and as an ignored exception.
    sys.excepthook = lambda kind, what, trace: None if _NOT_CLOSED in str(what) else told(kind, what, trace)
    sys.unraisablehook = lambda what: None if str(what.object).startswith("pysam.") else unraisable(what)

    def restore() -> None:
        sys.excepthook, sys.unraisablehook = told, unraisable
        pysam.set_verbosity(verbosity)

    return restore
