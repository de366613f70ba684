"""The running process: its cores and threads, memory that it has freed, and generators that are open at its end."""

from __future__ import annotations

import atexit
import ctypes
import logging
import os
import sys
from collections.abc import Generator
from contextlib import suppress
from typing import TypeVar
from weakref import WeakSet

log = logging.getLogger(__name__)

T = TypeVar("T")

MOST_PER_CORE = 16
"""The most threads for each core. More would not be faster, and each takes memory."""

# The numbers of glibc's parameters (malloc.h), and bytes. 32 MB is the most that glibc takes for the second.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_KEPT, _LARGE = 256 << 20, 32 << 20

_open: WeakSet[Generator[object]] = WeakSet()


def usable_cores() -> int:
    """How many cores this process may use: all, or those that it was bound to."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def usable_threads(wanted: int) -> int:
    """`wanted`, but at most `MOST_PER_CORE` for each core that this process may use. Warns if that is fewer."""
    cores = usable_cores()
    most = MOST_PER_CORE * cores
    if wanted > most:
        log.warning("%d threads are too many for %d cores: %d are used", wanted, cores, most)
    return min(wanted, most)


def tell_of_refused_threads() -> None:
    """Warn if the system refused to start threads of compiled code. The other threads did their work."""
    native = sys.modules.get("pairhmm._cpu")
    if native is not None and (refused := native.threads_refused()):
        log.warning("%d threads could not be started: fewer did the work (ulimit -u, ulimit -v)", refused)


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

    Python would do so only after it has waited for threads, which wait for the generator.
    """
    _open.add(generator)
    return generator


@atexit.register
def _close() -> None:
    for generator in list(_open):
        # Daemons may run it. They stop where they are when the interpreter ends.
        with suppress(ValueError):
            generator.close()
