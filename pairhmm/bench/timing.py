"""How long something takes, repetition after repetition."""

from __future__ import annotations

import time
from collections.abc import Callable


def seconds_of(run: Callable[[], object], repetitions: int) -> list[float]:
    """Seconds of each repetition. One before them, which may compile or warm up, does not count."""
    seconds = []
    for _ in range(repetitions + 1):
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    return seconds[1:]
