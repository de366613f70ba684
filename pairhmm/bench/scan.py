"""Measures a scan of a simulated workload on a GPU and on the CPU."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from pairhmm.backends import device_of, on_the_cpu, status
from pairhmm.bench.timing import seconds_of
from pairhmm.scan.base import SCANNERS, Patterns, Scanner, ScanOptions
from pairhmm.sequences.records import Samples
from pairhmm.sequences.signatures import Signatures
from pairhmm.simulate.signatures import draw_sample, draw_signature

SIGNATURE_LENGTHS, SAMPLE_LENGTHS = (3_000, 10_000), (100_000, 200_000)
PLANTED, PHRED, N_RATIO = (100, 200), (10, 30), 0.1
ONE_IN = 101
"""One in this many samples contains signatures. In the reference workload, 10 of 1,010 samples do."""

SIZES, SOFTWARE_SIZES = (10 * ONE_IN, 1000), (1, 20)
"""Numbers of samples and of signatures, on a GPU and on a software adapter."""


@dataclass(frozen=True, slots=True)
class ScanWorkload:
    """Signatures and samples. Some of the samples contain some of the signatures."""

    signatures: Signatures
    samples: Samples


@dataclass(frozen=True, slots=True)
class ScanSpeed:
    """Speed of a backend on a workload."""

    backend: str
    # Bases of the samples, and number of patterns: signatures on both strands
    bases: int
    patterns: int
    seconds: list[float]  # Seconds of each repetition, from packed host arrays to hits on the host
    cpu_seconds: float  # Median seconds of the CPU's scanner
    hits: int  # Number of (sample, signature) that match
    same: bool  # Whether the hits are those of the CPU's scanner, with the same strand, place and sum

    @property
    def speedup(self) -> float:
        """How many times as fast as the CPU, by medians."""
        return self.cpu_seconds / statistics.median(self.seconds)


def make_workload(samples: int, signatures: int, seed: int = 1) -> ScanWorkload:
    """The reference workload, with these numbers of samples and signatures. 1,010 samples have 160 Mbp."""
    rng = np.random.default_rng(seed)
    sequences = [draw_signature(rng, _between(rng, SIGNATURE_LENGTHS), N_RATIO) for _ in range(signatures)]
    letters, qualities = [], []
    for number in range(samples):
        most = min(_between(rng, PLANTED), signatures)
        planted = rng.choice(signatures, most if number % ONE_IN == 0 else 0, replace=False).tolist()
        own, phred, _ = draw_sample(rng, _between(rng, SAMPLE_LENGTHS), sequences, planted, PHRED, N_RATIO)
        letters.append(own)
        qualities.append(phred)
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
    """Time the CPU and one device (by default the first). A first run of each is not counted."""
    number = device_of(backend, device) or 0
    sizes = SOFTWARE_SIZES if number in status(backend).software else SIZES
    work, options = make_workload(samples or sizes[0], signatures or sizes[1]), ScanOptions()
    patterns = Patterns.of(work.signatures, options)
    bases = int(work.samples.offset[-1])
    announce(
        f"{len(work.samples):,} samples, {bases:,} bases, {len(patterns):,} patterns; {repetitions + 1} times each"
    )
    on_cpu = on_the_cpu()[0]
    scanners = {
        on_cpu: SCANNERS.load(on_cpu, patterns, options),
        backend: SCANNERS.load(backend, patterns, options, device=number),
    }
    return _measured(scanners, work.samples, len(patterns), repetitions, threads)


def _measured(
    scanners: dict[str, Scanner], samples: Samples, patterns: int, repetitions: int, threads: int
) -> Iterator[ScanSpeed]:
    """Speeds of scanners, of which the first is the CPU's."""
    expected, cpu_seconds = None, 0.0
    for name, scanner in scanners.items():
        seconds = seconds_of(partial(scanner.scan, samples, threads), repetitions)
        cpu_seconds = cpu_seconds or statistics.median(seconds)
        hits = scanner.scan(samples, threads).hits
        expected = hits if expected is None else expected
        told = ("segment", "signature", "start", "strand", "total")
        same = all(np.array_equal(hits[field], expected[field]) for field in told)
        yield ScanSpeed(name, int(samples.offset[-1]), patterns, seconds, cpu_seconds, len(hits), same)
