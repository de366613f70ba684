"""What each published optimisation of the scan gains on a GPU, and what this program's scanner gains over them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm import scanning
from pairhmm.backends import device_of, on_the_cpu, status
from pairhmm.backends.webgpu import setup as webgpu_setup
from pairhmm.bench.published.scan_cuda import CudaBrute
from pairhmm.bench.published.scan_webgpu import WebgpuBrute
from pairhmm.scanning.batch import HIT, Patterns, Samples, Scanned, ScanOptions, Signatures, best_hits
from pairhmm.simulation.signatures import draw_sample, draw_signature

__all__ = ["LADDER", "OURS", "ScanRung", "ScanSpeed", "ScanWorkload", "make_workload", "measure_scan"]

SIGNATURE_LENGTHS, SAMPLE_LENGTHS = (3_000, 10_000), (100_000, 200_000)
PLANTED, PHRED, N_RATIO = (100, 200), (10, 30), 0.1
ONE_IN = 101
"""One sample in this many has signatures, as in the reference workload: 10 of 1,010."""

SIZES, SOFTWARE_SIZES = (10 * ONE_IN, 1000), (1, 20)
"""Samples and signatures."""


@dataclass(frozen=True, slots=True)
class ScanRung:
    """A version of the brute force.

    Attributes
    ----------
    name : str
    summed : bool
        Scores are two reads of a prefix sum.
    flattened : bool
        Samples are one array with offsets, and one launch.
    """

    name: str
    summed: bool
    flattened: bool


LADDER = (
    ScanRung("brute force", summed=False, flattened=False),
    ScanRung("+ prefix sums", summed=True, flattened=False),
    ScanRung("+ flattened arrays", summed=True, flattened=True),
)
OURS = "+ anchors"
"""The rung below the ladder: the backend's scanner."""


@dataclass(frozen=True, slots=True)
class ScanWorkload:
    """Signatures and samples, some of which have some of them."""

    signatures: Signatures
    samples: Samples


@dataclass(frozen=True, slots=True)
class ScanSpeed:
    """One rung on a workload.

    Attributes
    ----------
    rung : str
        Of `LADDER`, or `OURS`.
    bases, patterns : int
        Of the samples; signatures on both strands.
    seconds : list of float
        From packed host arrays to hits on the host, each repetition's.
    baseline_seconds : float
        Median of the first rung.
    hits : int
        Pairs of sample and signature.
    same : bool
        They are those of the CPU's scanner: strand, place and sum.
    """

    rung: str
    bases: int
    patterns: int
    seconds: list[float]
    baseline_seconds: float
    hits: int
    same: bool

    @property
    def speedup(self) -> float:
        """Over the first rung, by medians."""
        return self.baseline_seconds / statistics.median(self.seconds)


class _Brute(Protocol):
    def best(
        self, samples: Samples, *, flattened: bool, summed: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...


def make_workload(samples: int, signatures: int, seed: int = 1) -> ScanWorkload:
    """The reference workload with so many samples and signatures: 1,010 samples have 160 Mbp."""
    rng = np.random.default_rng(seed)
    sequences = [draw_signature(rng, _between(rng, SIGNATURE_LENGTHS), N_RATIO) for _ in range(signatures)]
    letters, qualities = [], []
    for number in range(samples):
        most = min(_between(rng, PLANTED), signatures)
        planted = rng.choice(signatures, most if number % ONE_IN == 0 else 0, replace=False).tolist()
        sample = draw_sample(rng, _between(rng, SAMPLE_LENGTHS), sequences, planted, PHRED, N_RATIO)
        letters.append(sample.letters)
        qualities.append(sample.qualities)
    names = [f"signature_{number}" for number in range(1, signatures + 1)]
    return ScanWorkload(Signatures.of(names, sequences), Samples.of(letters, qualities))


def _between(rng: np.random.Generator, limits: tuple[int, int]) -> int:
    return int(rng.integers(limits[0], limits[1] + 1))


def measure_scan(
    backend: str,
    device: int | None,
    samples: int | None = None,
    signatures: int | None = None,
    *,
    repetitions: int = 3,
    threads: int = 1,
    announce: Callable[[str], None] = lambda message: None,
) -> Iterator[ScanSpeed]:
    """Time each rung on one device, after a first time that does not count.

    Parameters
    ----------
    backend : {"cuda", "webgpu"}
    device : int or None
        The first without one.
    samples, signatures : int, optional
        Of the workload; 1,010 and 1,000 without them, and 1 and 20 for a software adapter.
    repetitions : int
    threads : int
        CPU threads.
    announce : callable

    Raises
    ------
    BackendUnavailable, InputError
        Where the backend or the device is not there.
    """
    number = device_of(backend, device) or 0
    sizes = SOFTWARE_SIZES if number in status(backend).software else SIZES
    work, options = make_workload(samples or sizes[0], signatures or sizes[1]), ScanOptions()
    patterns = Patterns.of(work.signatures, options)
    bases = int(work.samples.offset[-1])
    announce(
        f"{len(work.samples):,} samples, {bases:,} bases, {len(patterns):,} patterns; {repetitions + 1} times a rung"
    )
    expected = scanning.load(on_the_cpu()[0], patterns, options).scan(work.samples, threads)
    ours = scanning.load(backend, patterns, options, number)
    brute: _Brute = (
        CudaBrute(number, patterns) if backend == "cuda" else WebgpuBrute(webgpu_setup.adapters()[number], patterns)
    )
    ways: dict[str, Callable[[], NDArray[np.void]]] = {
        rung.name: partial(_brute_hits, brute, work.samples, patterns, rung) for rung in LADDER
    }
    ways[OURS] = lambda: ours.scan(work.samples, threads).hits
    return _measured(ways, expected, bases, len(patterns), repetitions)


def _measured(
    ways: dict[str, Callable[[], NDArray[np.void]]], expected: Scanned, bases: int, patterns: int, repetitions: int
) -> Iterator[ScanSpeed]:
    baseline = None
    for name, run in ways.items():
        seconds = []
        for _ in range(repetitions + 1):
            begin = time.perf_counter()
            hits = run()
            seconds.append(time.perf_counter() - begin)
        if baseline is None:
            baseline = statistics.median(seconds[1:])
        told = ("segment", "signature", "start", "strand", "total")
        same = all(np.array_equal(hits[field], expected.hits[field]) for field in told)
        yield ScanSpeed(name, bases, patterns, seconds[1:], baseline, len(hits), same)


def _brute_hits(brute: _Brute, samples: Samples, patterns: Patterns, rung: ScanRung) -> NDArray[np.void]:
    """What a rung finds, the best of each sample and signature."""
    total, start = brute.best(samples, flattened=rung.flattened, summed=rung.summed)
    segment, pattern = np.nonzero(total >= 0)
    hits = np.ones(len(segment), dtype=HIT)
    hits["segment"], hits["signature"] = segment, patterns.signature[pattern]
    hits["start"], hits["total"] = start[segment, pattern], total[segment, pattern]
    hits["strand"] = patterns.strand[pattern]
    order = np.lexsort([hits[name] for name in ("strand", "start", "signature", "segment")])
    return best_hits(hits[order])
