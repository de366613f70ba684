"""What htslib and pysam say by themselves on stderr is said here, once, as an error of one line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

UNREADABLE = (OSError, ValueError, NotImplementedError)
"""What pysam raises for files that it can't read."""

_NOT_CLOSED = "Closing failed"


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing on stderr from htslib, nor from pysam where it can't close what it could not open.

    Several may be open at once, in several threads, and end in any order: the last to end restores what was before.
    """
    _silence.begin()
    try:
        yield
    finally:
        _silence.end()


class _Silence:
    """How many want it quiet, and what restores the noise."""

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
    """Silence both; gives what undoes that."""
    import pysam  # takes as long to load as a .in file of 50 MB, which does without

    verbosity, told, unraisable = pysam.set_verbosity(0), sys.excepthook, sys.unraisablehook
    # Cython prints what it can't raise twice: as an error, and as one that is ignored.
    sys.excepthook = lambda kind, what, trace: None if _NOT_CLOSED in str(what) else told(kind, what, trace)
    sys.unraisablehook = lambda what: None if str(what.object).startswith("pysam.") else unraisable(what)

    def restore() -> None:
        sys.excepthook, sys.unraisablehook = told, unraisable
        pysam.set_verbosity(verbosity)

    return restore
