"""Measures the speeds of this machine's devices and CPU, by which "auto" chooses between them."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

from pairhmm import backends, engine
from pairhmm.bench.workloads import WORKLOADS, make_workload
from pairhmm.engine import Choice
from pairhmm.engine.calibration import DeviceSpeed
from pairhmm.engine.device_pool import DevicePool
from pairhmm.models.batch import PairBatch

__all__ = ["measure"]

SMALL = replace(WORKLOADS["s150"], regions=1, reads=1, haplotypes=1)
LARGE_REGIONS = (2, 20, 200)
"""Regions of a large batch, tried in turn until one takes LARGE_SECONDS: 84 M, 840 M and 8.4 G cells."""

LARGE_SECONDS = 0.1
CALLS = 5

_START = "import time; begin = time.perf_counter(); from pairhmm.bench.calibrate import start; start({!r}, {!r}, begin)"
"""Code for a new process, which prints the seconds until its first score."""


def measure(threads: int) -> Iterator[DeviceSpeed]:
    """Speeds of the CPU and of every device that "auto" may take, one after the other.

    Parameters
    ----------
    threads : int
        CPU threads for preparing a device's batches. The CPU's own speed is that of one thread.
    """
    cpu_start = _start_seconds(backends.on_the_cpu()[0], None)
    for name in backends.names():
        found = backends.status(name)
        if backends.is_oracle(name) or not found.available:
            continue
        for index, device in enumerate(found.devices or (None,)):
            if index in found.software:
                continue
            number = None if device is None else index
            pool = engine.choose(Choice(name, None if number is None else (number,)))
            start = 0.0 if device is None else max(0.0, _start_seconds(name, number) - cpu_start)
            own_threads = 1 if device is None else threads
            call = _seconds(pool, make_workload(SMALL), own_threads)
            yield DeviceSpeed(name, device or found.detail, start, call, _speed(pool, own_threads, call))


def start(backend: str, device: int | None, begin: float) -> None:
    """Score one pair, and print the seconds since `begin`."""
    batch = make_workload(SMALL)
    engine.forward(batch, Choice(backend, None if device is None else (device,)))
    print(time.perf_counter() - begin)


def _start_seconds(backend: str, device: int | None) -> float:
    """Seconds to the first score of a new process. An earlier process fills the cache of compiled kernels."""
    command = [sys.executable, "-c", _START.format(backend, device)]
    return [float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(2)][-1]


def _seconds(pool: DevicePool, batch: PairBatch, threads: int) -> float:
    seconds = []
    for _ in range(1 + CALLS):
        begin = time.perf_counter()
        pool.forward(batch, threads)
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds[1:])


def _speed(pool: DevicePool, threads: int, call: float) -> float:
    """Cells a second, without the fixed time of a call."""
    for regions in LARGE_REGIONS:
        batch = make_workload(replace(WORKLOADS["s150"], regions=regions))
        seconds = _seconds(pool, batch, threads)
        if seconds >= LARGE_SECONDS:
            break
    return batch.cells / max(seconds - call, seconds / 10)
