"""Cells a second of alignment and time warping, by the CUDA kernels alone."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.align.base import ALIGNERS, SequencePairs, Sequences
from pairhmm.align.scoring import PRESETS, Scoring
from pairhmm.warp.base import WARPERS, SignalPairs, Signals, WarpOptions

DEFAULT_LENGTHS = (100, 250, 1_000, 10_000)
"""Bases or levels of both sides of a pair."""

MOST_DISTINCT = 1 << 17
"""Most pairs that are drawn. Where a measurement has more, it takes them again."""

KEPT, LEVELS = 0.9, 16
"""Share of a target that is its query, and how many levels signals have: few, so that costs fit 16 bits."""

ALIGNMENTS = {"linear": Scoring(0, -4, -3, -3), "affine": Scoring(1, -4, -6, -1), "edit": PRESETS["edit"]}
WARPING = "warping"
METHODS = (*ALIGNMENTS, WARPING)
"""Methods that are timed."""


@dataclass(frozen=True, slots=True)
class CellSpeed:
    """Speed on pairs of `length` x `length`."""

    method: str  # One of `METHODS`
    length: int
    pairs: int
    seconds: list[float]  # Of the kernels in each repetition, by the device's clock

    @property
    def gcups(self) -> float:
        """10^9 cells a second, by the median."""
        return self.pairs * self.length**2 / statistics.median(self.seconds) * 1e-9


@dataclass(frozen=True, slots=True)
class DpWork:
    """Pairs of one length."""

    # Bases 0 to 3, or levels. Pairs take them in turn.
    queries: NDArray[np.int16]
    targets: NDArray[np.int16]
    pairs: int

    @property
    def index(self) -> NDArray[np.int32]:
        """Which query and which target each pair has."""
        return (np.arange(self.pairs) % len(self.queries)).astype(np.int32)

    @property
    def offsets(self) -> NDArray[np.int64]:
        length: int = self.queries.shape[1]
        return np.arange(0, (len(self.queries) + 1) * length, length, dtype=np.int64)

    def signals(self) -> SignalPairs:
        """The pairs as signals."""
        queries, targets = (Signals(values.ravel(), self.offsets) for values in (self.queries, self.targets))
        return SignalPairs(queries, targets, self.index, self.index)

    def sequences(self) -> SequencePairs:
        """The pairs as sequences."""
        queries, targets = (
            Sequences(values.ravel().astype(np.uint8), self.offsets) for values in (self.queries, self.targets)
        )
        return SequencePairs(queries, targets, self.index, self.index)


def make_work(method: str, length: int, cells: float, seed: int = 1) -> DpWork:
    """About `cells` cells of pairs of `length` x `length`; at least one pair."""
    rng = np.random.default_rng(seed)
    pairs = max(1, round(cells / length**2))
    size = min(pairs, MOST_DISTINCT), length
    most = LEVELS if method == WARPING else 4
    queries, others = (rng.integers(0, most, size, dtype=np.int16) for _ in range(2))
    return DpWork(queries, np.where(rng.random(size, dtype=np.float32) < KEPT, queries, others), pairs)


def measure_cells(
    device: int, lengths: Sequence[int] = DEFAULT_LENGTHS, gigacells: int = 40, *, repetitions: int = 3
) -> Iterator[CellSpeed]:
    """Time each method at each length on a CUDA device. The first repetition does not count."""
    aligner: Any = ALIGNERS.load("cuda", device=device)
    warper: Any = WARPERS.load("cuda", device=device)
    for length in lengths:
        for method in METHODS:
            work = make_work(method, length, gigacells * 1e9)
            if method == WARPING:
                seconds = warper.kernel_seconds(work.signals(), WarpOptions(), repetitions)
            else:
                seconds = aligner.kernel_seconds(work.sequences(), ALIGNMENTS[method], repetitions)
            yield CellSpeed(method, length, work.pairs, seconds)
