"""The running process: usable cores, freed memory, and generators that are open at its end."""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
from collections.abc import Generator
from contextlib import suppress
from typing import TypeVar
from weakref import WeakSet

T = TypeVar("T")

# The numbers of glibc's parameters (malloc.h), and bytes. 32 MB is the most that glibc takes for the second.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_KEPT, _LARGE = 256 << 20, 32 << 20

_open: WeakSet[Generator[object]] = WeakSet()


def usable_cores() -> int:
    """How many cores this process may use: all, or those that it was bound to."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def keep_freed_memory() -> None:
    """Make glibc keep freed memory for the next array, up to 256 MB. Elsewhere, do nothing.

    glibc gives the memory of large arrays back to the system when they are freed, which then has to clear every page of
    the next array.
    """
    if sys.platform != "linux":
        return
    try:
        set_parameter = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        # Another C library.
        return
    set_parameter(_TRIM_THRESHOLD, _KEPT)
    set_parameter(_MMAP_THRESHOLD, _LARGE)


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
