"""The processor cores that this process may use."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """How many cores this process may use: all, or those that it was bound to."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
