"""Measures the speed of backends, and their difference from the float64 oracle, by sequence length."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pairhmm import engine
from pairhmm.backends import is_oracle, names
from pairhmm.engine import Choice
from pairhmm.engine.device_pool import DevicePool
from pairhmm.models.batch import Group, PairBatch, Read

DEFAULT_LENGTHS = (100, 1_000, 10_000, 100_000)
ORACLE = next(filter(is_oracle, names()))

MAX_PAIRS = 2_000_000
"""Most pairs of a repetition. With it, the packed batch of the shortest reads stays near 1 GB."""

SHORT = 2_000
"""Bases of the longest reads that are scored in groups, as in a region. Longer reads are one pair a group."""

ORACLE_CELLS = 3e7
"""Cells that the oracle scores at each length, about a second of NumPy. A single pair may have more."""

Announce = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class LengthSpeed:
    """Speed of a backend on pairs of `length` x `length` bases: best of `repetitions`, without packing."""

    backend: str  # Name of the backend
    length: int  # Bases of the read and of the haplotype
    threads: int  # CPU threads
    # Pairs and cells of one repetition: those of whole matrices
    pairs: int
    cells: int
    computed: float  # Share of these cells that is computed. Haplotypes of a group share the others.
    seconds: float  # Seconds of the best repetition, from the packed batch to the scores
    repetitions: int  # How many were timed

    @property
    def gcups(self) -> float:
        """10^9 cells of whole matrices a second."""
        return self.cells / self.seconds * 1e-9


@dataclass(frozen=True, slots=True)
class ScoreAccuracy:
    """Difference of a backend from the float64 oracle on pairs of `length` x `length` bases."""

    backend: str  # Name of the backend
    # Bases of a sequence, and number of pairs compared
    length: int
    pairs: int
    worst: float  # Largest abs(score - oracle) in log10 units; NaN or infinite where a score is
    worst_relative: float  # Largest abs(score - oracle) / max(abs(oracle), 1)
    lowest: float  # The lowest log10 likelihood of the oracle, which says how deep the test went
    rescued: int  # Pairs that float32 did not hold


def make_groups(length: int, pairs: int, seed: int = 1) -> list[Group]:
    """Make about `pairs` pairs (at least one) of reads and haplotypes of `length` bases each.

    Haplotypes are random. Those of a group are copies of one sequence, each with one base in 200 replaced. A read is a
    copy of a haplotype with errors at the rate of its base qualities (Phred 6 to 41, mean 34) and one inserted or
    deleted base in 300, cut to `length`. Insertion and deletion qualities are 45, the gap continuation penalty is 10.
    """
    rng = np.random.default_rng(seed)
    reads, haplotypes = (min(50, max(1, pairs // 4)), min(4, pairs)) if length <= SHORT else (1, 1)
    count = max(1, round(pairs / (reads * haplotypes)))
    return [_group(rng, length, reads, haplotypes) for _ in range(count)]


def _group(rng: np.random.Generator, length: int, reads: int, haplotypes: int) -> Group:
    root = rng.integers(0, 4, length, dtype=np.uint8)
    sequences = [_substituted(rng, root, np.full(length, 1 / 200)) for _ in range(haplotypes)]
    return Group([_read(rng, sequences[i % haplotypes]) for i in range(reads)], sequences)


def _substituted(rng: np.random.Generator, codes: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Copy `codes` (uint8[n]) with each base replaced by another one at its rate (float64[n])."""
    replaced = rng.random(len(codes)) < rates
    return np.where(replaced, (codes + rng.integers(1, 4, len(codes))) % 4, codes).astype(np.uint8)


def _read(rng: np.random.Generator, haplotype: np.ndarray) -> Read:
    length = len(haplotype)
    copies = rng.choice(np.array([0, 1, 2]), length, p=[1 / 600, 1 - 1 / 300, 1 / 600])
    bases = np.repeat(haplotype, copies)[:length]
    bases = np.concatenate([bases, rng.integers(0, 4, length - len(bases), dtype=np.uint8)])
    quality = np.clip(rng.normal(34, 6, length), 6, 41).round()
    bases = _substituted(rng, bases, 10.0 ** (-quality / 10))
    gap_open, gap_continuation = np.full(length, 45, np.uint8), np.full(length, 10, np.uint8)
    return Read(bases, quality.astype(np.uint8), gap_open, gap_open.copy(), gap_continuation)


def measure_speed(
    backend: str | Choice,
    lengths: Sequence[int] = DEFAULT_LENGTHS,
    *,
    threads: int = 1,
    seconds: float = 1.0,
    repetitions: int = 3,
    announce: Announce = lambda message: None,
) -> Iterator[LengthSpeed]:
    """Time `backend` at each length, on as many pairs as it scores in about `seconds` (at least one).

    The best of the repetitions counts. `announce` receives a line with an estimate before a measurement that takes
    long.
    """
    rate, pool = 0.0, engine.choose(backend)
    for length in lengths:
        cells = length * length
        if rate and cells / rate > 5 * seconds:
            announce(_estimate(pool.name, length, 1, (repetitions + 1) * cells / rate))
        base = make_groups(length, 200 if length <= SHORT else 1)
        groups = base
        while True:
            batch = PairBatch.from_groups(groups)
            pairs = _pairs(groups)
            first = _time(batch, pool, threads)
            if first >= seconds / 4 or pairs >= MAX_PAIRS:
                break
            # A backend's first pass includes its start, so the batch grows in steps instead of by one estimate.
            wanted = pairs * min(8.0, seconds / max(first, 1e-6))
            more = max(len(groups) + 1, round(min(wanted, MAX_PAIRS) / _pairs(base) * len(base)))
            groups = [base[i % len(base)] for i in range(more)]
        best = min(_time(batch, pool, threads) for _ in range(repetitions))
        rate = pairs * cells / best
        share = computed_share(pool, batch)
        yield LengthSpeed(pool.name, length, threads, pairs, pairs * cells, share, best, repetitions)


def computed_share(pool: DevicePool, batch: PairBatch) -> float:
    """Cells that a device computes for a batch, as a share of the cells of its whole matrices."""
    return pool.devices[0].computed_cells(batch) / batch.cells


def _pairs(groups: Sequence[Group]) -> int:
    return sum(len(group.reads) * len(group.haplotypes) for group in groups)


def _time(batch: PairBatch, pool: DevicePool, threads: int) -> float:
    start = time.perf_counter()
    pool.forward(batch, threads)
    return time.perf_counter() - start


def _estimate(backend: str, length: int, pairs: int, seconds: float) -> str:
    duration = f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
    return f"{backend} at {length:,} bases: {pairs * length * length / 1e9:,.3g} G cells, about {duration}"


def measure_accuracy(
    backends: Sequence[str | Choice],
    lengths: Sequence[int] = DEFAULT_LENGTHS,
    *,
    threads: int = 1,
    announce: Announce = lambda message: None,
) -> Iterator[ScoreAccuracy]:
    """Compare backends with the float64 oracle at each length. The oracle runs once a length.

    Each length takes about 3e7 cells, in 1 to 200 pairs. One pair can have more: 10^10 cells at 10^5 bases. `announce`
    receives the oracle's estimated time before each length, from its speed at the length before.
    """
    rate, oracle, pools = 0.0, engine.choose(ORACLE), [engine.choose(backend) for backend in backends]
    for length in lengths:
        cells = length * length
        pairs = max(1, min(200, int(ORACLE_CELLS / cells)))
        groups = make_groups(length, pairs, seed=2)
        batch, pairs = PairBatch.from_groups(groups), _pairs(groups)
        if not rate:
            probe = PairBatch.from_groups(make_groups(min(length, 500), 1))
            rate = min(length, 500) ** 2 / _time(probe, oracle, threads)
        announce(_estimate(ORACLE, length, pairs, pairs * cells / rate))
        start = time.perf_counter()
        expected = oracle.forward(batch, threads).log10
        rate = pairs * cells / (time.perf_counter() - start)
        for pool in pools:
            scores = pool.forward(batch, threads)
            difference = np.abs(scores.log10 - expected)
            relative = difference / np.maximum(np.abs(expected), 1.0)
            rescued = int(np.count_nonzero(scores.precision))
            worst, worst_relative = float(difference.max()), float(relative.max())
            yield ScoreAccuracy(pool.name, length, pairs, worst, worst_relative, float(expected.min()), rescued)
