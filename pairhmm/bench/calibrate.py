"""Measures the speeds of this machine's devices and CPU, by which "auto" chooses between them."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pairhmm import backends, engine
from pairhmm.bench.map import make_cohort
from pairhmm.bench.timing import seconds_of
from pairhmm.bench.workloads import WORKLOADS, make_workload
from pairhmm.engine import Choice
from pairhmm.engine.calibration import DISTANCES, FORWARD, PLACE, DeviceSpeed
from pairhmm.map.base import EMBEDDERS
from pairhmm.map.sketch.base import COMPARERS
from pairhmm.map.sketch.sketches import WORD_BITS, Scheme, Sketches

LARGE_SECONDS = 0.1
CALLS = 5
GROUPS = 10

_START = (
    "import time; begin = time.perf_counter(); "
    "from pairhmm.bench.calibrate import start; start({!r}, {!r}, {!r}, begin)"
)
"""Code for a new process, which prints the seconds until its first result."""

Run = Callable[[Any, int], object]


@dataclass(frozen=True, slots=True)
class CalibratedWork:
    """A kind of work whose speed is measured."""

    name: str  # `DeviceSpeed.work`
    backends: Callable[[], Sequence[str]]  # Backends that do it
    load: Callable[[str, int | None], Any]  # The worker of a backend and its device
    # Sizes of a tiny input, and of large ones, which are tried in turn until one takes LARGE_SECONDS
    sizes: Sequence[int]
    prepare: Callable[[int], tuple[int, Run]]  # Input of a size: its units, and what a worker does on so many threads


def _scoring(regions: int) -> tuple[int, Run]:
    pair = replace(WORKLOADS["s150"], regions=1, reads=1, haplotypes=1)
    batch = make_workload(replace(WORKLOADS["s150"], regions=regions) if regions else pair)
    return batch.cells, lambda pool, threads: pool.forward(batch, threads)


def _placing(samples: int) -> tuple[int, Run]:
    cohort = make_cohort(samples, GROUPS)
    return cohort.sets, cohort.place


def _distances(samples: int) -> tuple[int, Run]:
    scheme = Scheme()
    words = scheme.bits * (scheme.slots // WORD_BITS)
    planes = np.random.default_rng(samples).integers(0, 2**63, (samples, words), dtype=np.uint64)
    shape = samples, scheme.bits, scheme.slots // WORD_BITS
    counts = np.ones(samples)
    sketches = Sketches(scheme, [""] * samples, planes.reshape(shape), counts, counts.astype(np.int32))
    return samples**2 * words, lambda comparer, threads: comparer.equal_slots(sketches, sketches, threads)


def _pool(backend: str, device: int | None) -> Any:
    return engine.choose(Choice(backend, None if device is None else (device,)))


WORKS = {
    work.name: work
    for work in (
        # No regions stand for a single pair; 2, 20 and 200 have 84 M, 840 M and 8.4 G cells.
        CalibratedWork(FORWARD, backends.names, _pool, (0, 2, 20, 200), _scoring),
        CalibratedWork(
            PLACE,
            EMBEDDERS.names,
            lambda name, device: EMBEDDERS.load(name, device=device),
            (10, 1_000, 10_000, 100_000),
            _placing,
        ),
        CalibratedWork(
            DISTANCES,
            COMPARERS.names,
            lambda name, device: COMPARERS.load(name, device=device),
            (4, 300, 1_000, 3_000, 10_000),
            _distances,
        ),
    )
}


def measure(work: CalibratedWork, threads: int) -> Iterator[DeviceSpeed]:
    """Speeds of the CPU and of every device that "auto" may take, at one kind of work.

    `threads` serve a device. The CPU's own speed is that of one thread.
    """
    names = [name for name in work.backends() if not backends.is_oracle(name)]
    cpu = next((name for name in backends.on_the_cpu() if name in names), None)
    if cpu is None:
        return
    cpu_start = _start_seconds(work.name, cpu, None)
    for name in names:
        status = backends.status(name)
        for index, device in enumerate((status.devices or (None,)) if status.available else ()):
            if index in status.software:
                continue
            number = None if device is None else index
            start = 0.0 if device is None else max(0.0, _start_seconds(work.name, name, number) - cpu_start)
            call, speed = _speed(work, work.load(name, number), 1 if device is None else threads)
            yield DeviceSpeed(name, device or status.detail, start, call, speed, work.name)


def start(work: str, backend: str, device: int | None, begin: float) -> None:
    """Do a tiny piece of work, and print the seconds since `begin`."""
    chosen = WORKS[work]
    chosen.prepare(chosen.sizes[0])[1](chosen.load(backend, device), 1)
    print(time.perf_counter() - begin)


def _start_seconds(work: str, backend: str, device: int | None) -> float:
    """Seconds to the first result of a new process. An earlier process fills the cache of compiled kernels."""
    command = [sys.executable, "-c", _START.format(work, backend, device)]
    return [float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(2)][-1]


def _speed(work: CalibratedWork, worker: Any, threads: int) -> tuple[float, float]:
    """Seconds of a tiny call, and units a second without them."""
    tiny, *large = work.sizes
    call = _seconds(work.prepare(tiny)[1], worker, threads)
    for size in large:
        units, run = work.prepare(size)
        seconds = _seconds(run, worker, threads)
        if seconds >= LARGE_SECONDS:
            break
    return call, units / max(seconds - call, seconds / 10)


def _seconds(run: Run, worker: Any, threads: int) -> float:
    return statistics.median(seconds_of(lambda: run(worker, threads), CALLS))
