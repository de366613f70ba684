"""How many threads are worth starting here, and what is said where fewer could be."""

from __future__ import annotations

import logging
import os
import sys

log = logging.getLogger(__name__)

MOST_PER_CORE = 16
"""More threads than this on a core only take memory from each other."""


def usable_threads(wanted: int) -> int:
    """`wanted`, or where that is more, `MOST_PER_CORE` for each core that this process may use, and that is said."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    most = MOST_PER_CORE * cores
    if wanted > most:
        log.warning("%d threads are too many for %d cores: %d are used", wanted, cores, most)
    return min(wanted, most)


def tell_of_refused_threads() -> None:
    """Say how many threads of compiled code the system did not start, if any: the others did their work."""
    native = sys.modules.get("pairhmm._cpu")
    if native is not None and (refused := native.threads_refused()):
        log.warning("%d threads could not be started: fewer did the work (ulimit -u, ulimit -v)", refused)
