"""How this process keeps memory that it has freed."""

from __future__ import annotations

import ctypes
import sys

# The numbers of glibc's parameters (malloc.h), and bytes. 32 MB is the most that glibc takes for the second.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_KEPT, _LARGE = 256 << 20, 32 << 20


def keep_freed_memory() -> None:
    """Make glibc keep freed memory for the next array, up to 256 MB. Elsewhere, do nothing.

    glibc gives the memory of large arrays back to the system when they are freed. The system then has to clear every
    page of the next array, which takes a tenth of the CPU time of `call`.
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
