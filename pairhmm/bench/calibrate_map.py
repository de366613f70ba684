"""Measures this machine's speeds at the work of `pairhmm map`: placing samples, and distances between sketches."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairhmm import backends
from pairhmm.bench.map import make_cohort
from pairhmm.engine.calibration import DISTANCES, PLACE, DeviceSpeed
from pairhmm.engine.tools import Tool
from pairhmm.map.base import EMBEDDERS
from pairhmm.map.sketch.base import COMPARERS
from pairhmm.map.sketch.sketches import WORD_BITS, Scheme, Sketches

__all__ = ["measure_map_work"]

CALLS = 5
LARGE_SECONDS = 0.1
GROUPS = 10

_START = (
    "import time; begin = time.perf_counter(); "
    "from pairhmm.bench.calibrate_map import start; start({!r}, {!r}, {!r}, begin)"
)
"""Code for a new process, which prints the seconds until its first result."""


@dataclass(frozen=True, slots=True)
class MapWork:
    """A kind of work of the map.

    Attributes
    ----------
    name : str
        As `DeviceSpeed.work`.
    tool : Tool
        Its workers.
    sizes : sequence of int
        Samples of a tiny input, and of large ones, which are tried in turn until one takes LARGE_SECONDS.
    prepare : callable
        Makes an input of so many samples: its units, and what a worker does with it on so many threads.
    """

    name: str
    tool: Tool[Any]
    sizes: Sequence[int]
    prepare: Callable[[int], tuple[int, Callable[[Any, int], object]]]


def _placing(samples: int) -> tuple[int, Callable[[Any, int], object]]:
    cohort = make_cohort(samples, GROUPS)
    return cohort.sets, cohort.place


def _distances(samples: int) -> tuple[int, Callable[[Any, int], object]]:
    scheme = Scheme()
    words = scheme.bits * (scheme.slots // WORD_BITS)
    planes = np.random.default_rng(samples).integers(0, 2**63, (samples, words), dtype=np.uint64)
    shape = samples, scheme.bits, scheme.slots // WORD_BITS
    counts = np.ones(samples)
    sketches = Sketches(scheme, [""] * samples, planes.reshape(shape), counts, counts.astype(np.int32))
    return samples**2 * words, lambda comparer, threads: comparer.equal_slots(sketches, sketches, threads)


WORKS = {
    work.name: work
    for work in (
        MapWork(PLACE, EMBEDDERS, (10, 1_000, 10_000, 100_000), _placing),
        MapWork(DISTANCES, COMPARERS, (4, 300, 1_000, 3_000, 10_000), _distances),
    )
}


def measure_map_work(threads: int) -> Iterator[DeviceSpeed]:
    """Speeds of the CPU and of every device that "auto" may take, at each kind of work.

    Parameters
    ----------
    threads : int
        CPU threads that serve a device. The CPU's own speed is that of one thread.
    """
    for work in WORKS.values():
        known = [name for name in work.tool.names() if not backends.is_oracle(name)]
        cpu = next((name for name in backends.on_the_cpu() if name in known), None)
        if cpu is None:
            continue
        cpu_start = _start_seconds(work.name, cpu, None)
        for name in known:
            found = backends.status(name)
            for index, device in enumerate((found.devices or (None,)) if found.available else ()):
                if index in found.software:
                    continue
                number = None if device is None else index
                start = 0.0 if device is None else max(0.0, _start_seconds(work.name, name, number) - cpu_start)
                call, speed = _speed(work, work.tool.load(name, device=number), 1 if device is None else threads)
                yield DeviceSpeed(name, device or found.detail, start, call, speed, work.name)


def start(work: str, backend: str, device: int | None, begin: float) -> None:
    """Do a tiny piece of work, and print the seconds since `begin`."""
    chosen = WORKS[work]
    chosen.prepare(chosen.sizes[0])[1](chosen.tool.load(backend, device=device), 1)
    print(time.perf_counter() - begin)


def _start_seconds(work: str, backend: str, device: int | None) -> float:
    """Seconds to the first result of a new process. An earlier process fills the cache of compiled kernels."""
    command = [sys.executable, "-c", _START.format(work, backend, device)]
    return [float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(2)][-1]


def _speed(work: MapWork, worker: Any, threads: int) -> tuple[float, float]:
    """Seconds of a tiny call, and units a second without them."""
    tiny, *large = work.sizes
    call = _seconds(work.prepare(tiny)[1], worker, threads)
    for size in large:
        units, run = work.prepare(size)
        seconds = _seconds(run, worker, threads)
        if seconds >= LARGE_SECONDS:
            break
    return call, units / max(seconds - call, seconds / 10)


def _seconds(run: Callable[[Any, int], object], worker: Any, threads: int) -> float:
    seconds = []
    for _ in range(1 + CALLS):
        begin = time.perf_counter()
        run(worker, threads)
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds[1:])
