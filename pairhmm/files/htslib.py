"""htslib, as the library in pysam's package: its functions for the compiled part, and its silence on stderr.

Callers report each error once, in one line.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Final

from pairhmm.errors import InputError
from pairhmm.native import native

if TYPE_CHECKING:
    from pairhmm._cpu import HtslibReader

UNREADABLE = (
    *(OSError, ValueError, NotImplementedError),
    *(ArithmeticError, AssertionError, LookupError, RuntimeError, SystemError, TypeError),
)
"""Exceptions that pysam raises for files that it can't read: the first by design, the others where it fails."""

_NOT_CLOSED = "Closing failed"
_NAMES: Final = (
    *("hts_open", "hts_close", "hts_set_opt", "hts_get_format", "hts_get_bgzfp"),
    *("sam_hdr_read", "sam_hdr_str", "sam_hdr_destroy", "sam_index_load3", "hts_idx_destroy"),
    *("sam_itr_queryi", "hts_itr_next", "hts_itr_destroy", "sam_read1", "bam_init1", "bam_destroy1"),
)


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


@cache
def htslib_functions() -> dict[str, int] | None:
    """Addresses of htslib's functions by name; None where pysam's library does not show them."""
    try:
        library = ctypes.CDLL(import_module("pysam.libchtslib").__file__)
        addresses = {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in _NAMES}
    except (AttributeError, OSError):
        return None
    return {name: address for name, address in addresses.items() if address is not None}


def require_htslib(path: str) -> dict[str, int]:
    """`htslib_functions`, or the error for the file that needs them."""
    functions = htslib_functions()
    if functions is None:
        rule = "can't be read: the library in pysam's package shows no functions of htslib"
        raise InputError(path, "", rule, "install pysam's wheel (pip install --force-reinstall pysam), or give BAM")
    return functions


def open_by_htslib(
    path: str, index: str = "", reference: str = "", threads: int = 1, descriptor: int | None = None
) -> HtslibReader | None:
    """Open a file, and read its header. None where htslib can't.

    Raises InputError where pysam's library does not show its functions.

    Parameters
    ----------
    index : str
        None if empty.
    reference : str
        FASTA that CRAM is decoded with. None if empty.
    threads : int
        With 2 or more, threads of htslib decode.
    descriptor : int, optional
        A pipe that takes the file's place. It may be closed once this has returned.
    """
    functions = require_htslib(path)
    source = path if descriptor is None else f"/dev/fd/{descriptor}"
    try:
        return native.HtslibReader(functions, source, index, reference, threads)
    except RuntimeError:
        return None
