"""Measures what each published optimisation gains on a WebGPU device, beside our kernel and CUDA."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from pairhmm import backends
from pairhmm.backends import Backend
from pairhmm.backends.webgpu import setup as webgpu_setup
from pairhmm.backends.webgpu.setup import Adapter
from pairhmm.backends.webgpu.strips import BLOCK, LONG, LONGEST_SEGMENT, STEPS, strip_entries
from pairhmm.bench.lengths import DEFAULT_LENGTHS
from pairhmm.bench.published.wavefront import make_pair
from pairhmm.bench.published.webgpu_wavefront import LADDER, Run, Wavefront, log_pair
from pairhmm.engine import Choice
from pairhmm.models.batch import PairBatch

__all__ = ["OURS", "RungSpeed", "default_lengths", "measure_ladder"]

MOST_WAITS = 50_000
"""Most diagonals for each of which the host waits. More would take minutes."""

SOFTWARE_LENGTHS = (100, 1_000)

OURS = "ours"
"""Name of the rung after those of `LADDER`: our kernel, forward/long.wgsl."""


@dataclass(frozen=True, slots=True)
class RungSpeed:
    """Speed of one rung on a pair of `length` x `length` bases.

    Attributes
    ----------
    length : int
    rung : str
        Name of a rung of `LADDER`, or `OURS`.
    round_trips, bind_groups : int
        For one score, how often the host waits for the device, and how many bind groups are made.
    storage_reads : float
        32-bit words that a cell reads from storage buffers.
    seconds : list of float
        Seconds of each repetition, from host arrays to the score.
    baseline_seconds, cuda_seconds : float or None
        Median seconds of the first rung and of the CUDA backend's `forward_pairs`; None if they were not measured.
    score, expected : float
        The rung's score and the CPU backend's in float64, log10.
    """

    length: int
    rung: str
    round_trips: int
    bind_groups: int
    storage_reads: float
    seconds: list[float]
    baseline_seconds: float | None
    cuda_seconds: float | None
    score: float
    expected: float

    @property
    def speedup(self) -> float | None:
        """How many times faster this rung is than the first one, by medians."""
        return None if self.baseline_seconds is None else self.baseline_seconds / statistics.median(self.seconds)

    @property
    def share_of_cuda(self) -> float | None:
        """Speed as a share of the CUDA backend's, by medians."""
        return None if self.cuda_seconds is None else self.cuda_seconds / statistics.median(self.seconds)

    @property
    def difference(self) -> float:
        """Absolute difference from the float64 score, divided by the latter's size if that is above 1."""
        return abs(self.score - self.expected) / max(1, abs(self.expected))


def default_lengths(adapter: Adapter) -> tuple[int, ...]:
    """The published lengths, and fewer for a software adapter."""
    return SOFTWARE_LENGTHS if adapter.is_software else DEFAULT_LENGTHS


def our_reads(adapter: Adapter) -> float:
    """32-bit words that a cell of `OURS` reads from storage buffers: border columns, and letters of blocks of columns.

    Strips that take turns also read their rows and states in each turn. Making the rows, once, is not included.
    """
    reads = 3 / (LONG.lanes * LONG.rows) + 3 / (BLOCK * LONG.rows)
    turns = 4 * strip_entries(LONGEST_SEGMENT) / (LONG.rows * STEPS)
    return reads + turns if adapter.is_software else reads


def measure_ladder(
    choice: Choice,
    lengths: Sequence[int] | None = None,
    *,
    repetitions: int = 5,
    threads: int = 1,
    announce: Callable[[str], None] = lambda message: None,
) -> Iterator[RungSpeed]:
    """Time one pair of each length by each rung and by our backend, on the first device chosen.

    A first run of each is not counted. Lengths are by default `default_lengths`. The first rung is left out if it would
    wait more than `MOST_WAITS` times, which is announced.

    Raises
    ------
    BackendUnavailable
        Without an adapter, or without the CPU backend, whose float64 scores are the reference.
    InputError
        If the device does not exist.
    """
    device = choice.devices[0] if choice.devices else 0
    ours, exact = backends.load(choice.backend, device, choice.device_memory), backends.load("cpu")
    cuda = backends.load("cuda") if backends.status("cuda").available else None
    adapter = webgpu_setup.adapters()[device]
    with webgpu_setup.starting(f"webgpu:{device}"):
        wavefront = Wavefront(adapter)
    return (
        speed
        for length in lengths or default_lengths(adapter)
        for speed in _measure(wavefront, ours, our_reads(adapter), exact, cuda, length, repetitions, threads, announce)
    )


def _measure(
    wavefront: Wavefront,
    ours: Backend,
    reads: float,
    exact: Backend,
    cuda: Backend | None,
    length: int,
    repetitions: int,
    threads: int,
    announce: Callable[[str], None],
) -> Iterator[RungSpeed]:
    batch = make_pair(length)
    pair, diagonals = log_pair(batch), 2 * length + 1
    announce(f"{length:,} bases: {repetitions + 1} times {diagonals:,} dispatches by each rung; float64 on the CPU")
    expected = _of_backend(exact, batch, threads).score
    on_cuda = None if cuda is None else _median(_repeated(partial(_of_backend, cuda, batch, threads), repetitions))
    baseline = None

    def speed(rung: str, round_trips: int, bind_groups: int, storage_reads: float, runs: Sequence[Run]) -> RungSpeed:
        seconds, score = [run.seconds for run in runs], runs[-1].score
        figures = round_trips, bind_groups, storage_reads, seconds, baseline, on_cuda, score, expected
        return RungSpeed(length, rung, *figures)

    for rung in LADDER:
        round_trips = rung.round_trips(diagonals)
        if round_trips > MOST_WAITS:
            announce(f"{length:,} bases: no {rung.name}, whose {round_trips:,} round trips take minutes")
            continue
        runs = _repeated(partial(wavefront.score, pair, rung), repetitions)
        if rung is LADDER[0]:
            baseline = _median(runs)
        yield speed(rung.name, round_trips, rung.bind_groups(diagonals), rung.storage_reads, runs)
    yield speed(OURS, 1, 1, reads, _repeated(partial(_of_backend, ours, batch, threads), repetitions))


def _of_backend(backend: Backend, batch: PairBatch, threads: int) -> Run:
    """Score the one pair of a batch by a backend's `forward_pairs`."""
    begin = time.perf_counter()
    score = float(backend.forward_pairs(batch, np.zeros(1, dtype=np.int64), threads).log10[0])
    return Run(score, time.perf_counter() - begin)


def _repeated(run: Callable[[], Run], repetitions: int) -> list[Run]:
    """Repeat a run. A first run, which compiles the kernels, is not counted."""
    return [run() for _ in range(repetitions + 1)][1:]


def _median(runs: Sequence[Run]) -> float:
    """Median of the runs' seconds."""
    return statistics.median(run.seconds for run in runs)
