"""Cells a second of alignment and time warping, ours beside the published design of a pair a thread."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.aligning.base import ALIGNERS
from pairhmm.aligning.batch import SequencePairs, Sequences
from pairhmm.aligning.scoring import PRESETS, Scoring
from pairhmm.bench.published.alignment_cuda import PublishedPairs
from pairhmm.warping.base import WARPERS
from pairhmm.warping.batch import SignalPairs, Signals, WarpOptions

__all__ = ["DEFAULT_LENGTHS", "METHODS", "CellSpeed", "DpWork", "make_work", "measure_cells"]

DEFAULT_LENGTHS = (100, 250, 1_000, 10_000)
"""Bases or levels of both sides of a pair."""

MOST_DISTINCT = 1 << 17
"""Most pairs that are drawn. Where a measurement has more, it takes them again."""

KEPT, LEVELS = 0.9, 16
"""Share of a target that is its query, and how many levels signals have: few, so that costs fit 16 bits."""

LINEAR, AFFINE = Scoring(0, -4, -3, -3), Scoring(1, -4, -6, -1)
ALIGNMENTS = {"linear": LINEAR, "affine": AFFINE, "edit": PRESETS["edit"]}
WARPING = "warping"
METHODS = (*ALIGNMENTS, WARPING)
"""What is measured."""

KERNELS, ARRAYS = "kernels", "arrays to scores"
"""What seconds are of: kernels alone by the device's clock, or all from arrays on the host to scores there."""

PUBLISHED, OURS = "published", "ours"


@dataclass(frozen=True, slots=True)
class CellSpeed:
    """Speed of a design on pairs of `length` x `length`.

    Attributes
    ----------
    method : str
        One of `METHODS`.
    length, pairs : int
    design : {"published", "ours"}
    timed : str
        `KERNELS` or `ARRAYS`.
    seconds : list of float
        Of each repetition.
    same : bool or None
        Whether the scores are those of the published design; None where that is not measured.
    """

    method: str
    length: int
    pairs: int
    design: str
    timed: str
    seconds: list[float]
    same: bool | None

    @property
    def gcups(self) -> float:
        """10^9 cells a second, by the median."""
        return self.pairs * self.length**2 / statistics.median(self.seconds) * 1e-9


@dataclass(frozen=True, slots=True)
class DpWork:
    """Pairs of one length.

    Attributes
    ----------
    queries, targets : ndarray, shape (distinct, length), int16
        Bases 0 to 3, or levels. Pairs take them in turn.
    pairs : int
    """

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
    device: int,
    lengths: Sequence[int] = DEFAULT_LENGTHS,
    gigacells: int = 40,
    *,
    repetitions: int = 3,
    announce: Callable[[str], None] = lambda message: None,
) -> Iterator[CellSpeed]:
    """Time each method at each length: the published design where there is one, then ours.

    Parameters
    ----------
    device : int
        Index of the CUDA device.
    lengths : sequence of int
    gigacells : int
        10^9 cells of a repetition, at every length.
    repetitions : int
        Those that count; one before them does not.
    announce : callable
        Is told what can't be measured.

    Raises
    ------
    BackendUnavailable
        Without CUDA.
    """
    published = PublishedPairs(device)
    methods = [method for method in METHODS if method == WARPING or "cuda" in ALIGNERS.names()]
    if len(methods) < len(METHODS):
        announce("alignment: this version does not align on CUDA, so that the published design stands alone")
    for length in lengths:
        for method in METHODS:
            work = make_work(method, length, gigacells * 1e9)
            expected = None
            if method in ("linear", WARPING):
                speed, expected = _published(published, method, work, repetitions)
                yield speed
            if method in methods:
                yield _ours(device, method, work, expected, repetitions)


def _published(
    published: PublishedPairs, method: str, work: DpWork, repetitions: int
) -> tuple[CellSpeed, NDArray[np.int64]]:
    if method == WARPING:
        seconds, costs = published.run(WARPING, work.queries, work.targets, work.pairs, repetitions)
        scores = costs.astype(np.int64)
    else:
        penalties = -LINEAR.mismatch, -LINEAR.gap_extend
        seconds, costs = published.run("alignment", work.queries, work.targets, work.pairs, repetitions, *penalties)
        scores = -costs.astype(np.int64)
    length = work.queries.shape[1]
    return CellSpeed(method, length, work.pairs, PUBLISHED, KERNELS, seconds, None), scores


def _ours(device: int, method: str, work: DpWork, expected: NDArray[np.int64] | None, repetitions: int) -> CellSpeed:
    by: Any
    pairs: SignalPairs | SequencePairs
    rule: WarpOptions | Scoring
    if method == WARPING:
        by, pairs, rule = WARPERS.load("cuda", device=device), work.signals(), WarpOptions()
    else:
        by, pairs, rule = ALIGNERS.load("cuda", device=device), work.sequences(), ALIGNMENTS[method]

    def scores() -> NDArray[np.int64]:
        if method == WARPING:
            return np.asarray(by.warpings(pairs, rule, 1).costs)
        return np.asarray(by.scores(pairs, rule, 1)).astype(np.int64)

    same = None if expected is None else bool(np.array_equal(scores(), expected))
    if hasattr(by, "kernel_seconds"):
        timed, seconds = KERNELS, by.kernel_seconds(pairs, rule, repetitions)
    else:
        timed, seconds = ARRAYS, [_seconds(scores) for _ in range(repetitions + 1)][1:]
    return CellSpeed(method, work.queries.shape[1], work.pairs, OURS, timed, seconds, same)


def _seconds(run: Callable[[], object]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin
