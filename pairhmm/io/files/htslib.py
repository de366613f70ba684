"""What htslib and pysam say by themselves on stderr is said here, once, as an error of one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pysam

UNREADABLE = (OSError, ValueError, NotImplementedError)
"""What pysam raises for files that it can't read."""

_NOT_CLOSED = "Closing failed"


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing on stderr from htslib, nor from pysam where it can't close what it could not open."""
    verbosity, told, unraisable = pysam.set_verbosity(0), sys.excepthook, sys.unraisablehook
    # Cython prints what it can't raise twice: as an error, and as one that is ignored.
    sys.excepthook = lambda kind, what, trace: None if _NOT_CLOSED in str(what) else told(kind, what, trace)
    sys.unraisablehook = lambda what: None if str(what.object).startswith("pysam.") else unraisable(what)
    try:
        yield
    finally:
        sys.excepthook, sys.unraisablehook = told, unraisable
        pysam.set_verbosity(verbosity)
