"""How this process takes memory from the system, and keeps what it has freed."""

from __future__ import annotations

import ctypes
import sys

# The numbers of glibc's parameters (malloc.h), and bytes. 32 MB is the most that glibc takes for the last.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
_KEPT, _DEFAULT_PAD, _LARGE = 256 << 20, 128 << 10, 32 << 20
# Bytes of the heap that gets huge pages, of one of these, and of an allocation for which a new heap grows.
_HEAP, _HUGE_PAGE, _GROWS = 128 << 20, 2 << 20, 1 << 20
_MADV_HUGEPAGE = 14


def prepare_memory() -> None:
    """Make glibc keep freed memory for the next array, and take memory in huge pages. Elsewhere, do nothing.

    * glibc gives the memory of large arrays back to the system when they are freed. The system then has to clear every
      page of the next array, which takes a tenth of the CPU time of `call`. So up to 256 MB are kept.
    * The first touch of a page interrupts the process. `call` touches 20,000 pages of 4 KB, which takes a thirtieth of
      its CPU time. So Linux is asked for pages of 2 MB for the next 128 MB of the heap, where it gives such pages on
      request. Memory is taken when it is touched, and by forked processes, too.
    """
    if sys.platform != "linux":
        return
    try:
        library = ctypes.CDLL(None)
        library.mallopt(_TRIM_THRESHOLD, _KEPT)
        library.mallopt(_MMAP_THRESHOLD, _LARGE)
    except (OSError, AttributeError):
        # Another C library.
        return
    _ask_for_huge_pages(library)


def _ask_for_huge_pages(library: ctypes.CDLL) -> None:
    library.sbrk.restype = library.malloc.restype = ctypes.c_void_p
    library.sbrk.argtypes = [ctypes.c_ssize_t]
    library.malloc.argtypes = [ctypes.c_size_t]
    library.free.argtypes = [ctypes.c_void_p]
    library.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    begin = library.sbrk(0)
    library.mallopt(_TOP_PAD, _HEAP)
    library.free(library.malloc(_GROWS))
    library.mallopt(_TOP_PAD, _DEFAULT_PAD)
    first, last = -(-begin // _HUGE_PAGE), library.sbrk(0) // _HUGE_PAGE
    # The heap has not grown under a limit on addresses (ulimit -v).
    if first < last:
        library.madvise(first * _HUGE_PAGE, (last - first) * _HUGE_PAGE, _MADV_HUGEPAGE)
