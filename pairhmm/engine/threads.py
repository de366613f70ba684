"""Limits the number of threads, and warns where fewer were started than asked for."""

from __future__ import annotations

import logging
import sys

from pairhmm.process import usable_cores

log = logging.getLogger(__name__)

MOST_PER_CORE = 16
"""The most threads for each core. More would not be faster, and each takes memory."""


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
