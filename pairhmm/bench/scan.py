"""Measures on a GPU what each published optimisation of the scan gains, and what our scanner gains over them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends import device_of, on_the_cpu, status
from pairhmm.backends.webgpu import setup as webgpu_setup
from pairhmm.bench.published.scan_cuda import CudaBrute
from pairhmm.bench.published.scan_webgpu import WebgpuBrute
from pairhmm.scanning.base import SCANNERS
from pairhmm.scanning.batch import HIT, Patterns, Samples, Scanned, ScanOptions, Signatures, best_hits
from pairhmm.simulation.signatures import draw_sample, draw_signature

__all__ = ["LADDER", "OURS", "ScanRung", "ScanSpeed", "ScanWorkload", "make_workload", "measure_scan"]

SIGNATURE_LENGTHS, SAMPLE_LENGTHS = (3_000, 10_000), (100_000, 200_000)
PLANTED, PHRED, N_RATIO = (100, 200), (10, 30), 0.1
ONE_IN = 101
"""One sample in this many contains signatures. In the reference workload, 10 of 1,010 samples do."""

SIZES, SOFTWARE_SIZES = (10 * ONE_IN, 1000), (1, 20)
"""Numbers of samples and of signatures, on a GPU and on a software adapter."""


@dataclass(frozen=True, slots=True)
class ScanRung:
    """A version of the brute-force scan.

    Attributes
    ----------
    name : str
    summed : bool
        A score is the difference of two prefix sums.
    flattened : bool
        All samples are one array with offsets, and take one launch.
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
"""Name of the rung after those of `LADDER`: our scanner on the same backend."""


@dataclass(frozen=True, slots=True)
class ScanWorkload:
    """Signatures and samples. Some of the samples contain some of the signatures."""

    signatures: Signatures
    samples: Samples


@dataclass(frozen=True, slots=True)
class ScanSpeed:
    """Speed of one rung on a workload.

    Attributes
    ----------
    rung : str
        Name of a rung of `LADDER`, or `OURS`.
    bases, patterns : int
        Bases of the samples, and number of patterns: signatures on both strands.
    seconds : list of float
        Seconds of each repetition, from packed host arrays to hits on the host.
    baseline_seconds : float
        Median seconds of the first rung.
    hits : int
        Number of (sample, signature) that match.
    same : bool
        Whether the hits are those of the CPU's scanner, with the same strand, place and sum.
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
        """How many times faster this rung is than the first one, by medians."""
        return self.baseline_seconds / statistics.median(self.seconds)


class _Brute(Protocol):
    def best(
        self, samples: Samples, *, flattened: bool, summed: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...


def make_workload(samples: int, signatures: int, seed: int = 1) -> ScanWorkload:
    """The reference workload, with these numbers of samples and signatures. 1,010 samples have 160 Mbp."""
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
    """Time each rung on one device. A first run of each is not counted.

    Parameters
    ----------
    backend : {"cuda", "webgpu"}
    device : int or None
        Index of the device; None for the first one.
    samples, signatures : int, optional
        Size of the workload. By default 1,010 and 1,000, and 1 and 20 on a software adapter.
    repetitions : int
    threads : int
        CPU threads.
    announce : callable

    Raises
    ------
    BackendUnavailable, InputError
        If the backend or the device is not available.
    """
    number = device_of(backend, device) or 0
    sizes = SOFTWARE_SIZES if number in status(backend).software else SIZES
    work, options = make_workload(samples or sizes[0], signatures or sizes[1]), ScanOptions()
    patterns = Patterns.of(work.signatures, options)
    bases = int(work.samples.offset[-1])
    announce(
        f"{len(work.samples):,} samples, {bases:,} bases, {len(patterns):,} patterns; {repetitions + 1} times a rung"
    )
    expected = SCANNERS.load(on_the_cpu()[0], patterns, options).scan(work.samples, threads)
    ours = SCANNERS.load(backend, patterns, options, device=number)
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
    """The hits that a rung finds: the best match of each sample and signature."""
    total, start = brute.best(samples, flattened=rung.flattened, summed=rung.summed)
    segment, pattern = np.nonzero(total >= 0)
    hits = np.ones(len(segment), dtype=HIT)
    hits["segment"], hits["signature"] = segment, patterns.signature[pattern]
    hits["start"], hits["total"] = start[segment, pattern], total[segment, pattern]
    hits["strand"], hits["place"] = patterns.strand[pattern], 0
    order = np.lexsort([hits[name] for name in ("strand", "start", "signature", "segment")])
    return best_hits(hits[order])
