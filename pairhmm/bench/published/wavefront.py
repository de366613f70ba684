"""Compares the published anti-diagonal design with ours, on a long pair and the same GPU."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm import backends
from pairhmm.backends import Backend
from pairhmm.backends.cuda import sources
from pairhmm.bench.lengths import DEFAULT_LENGTHS, make_groups
from pairhmm.engine import Choice
from pairhmm.genomics.sequences import LETTERS, codes_of
from pairhmm.models import gatk, profile
from pairhmm.models.batch import ROW_SIZE, PairBatch
from pairhmm.models.rows import rows_of

__all__ = ["LogPair", "Run", "Wavefront", "WavefrontSpeed", "log_pair", "make_pair", "measure_wavefront", "source"]

BLOCK = 256
"""Threads of a block."""

RECORDED_LAUNCHES = 1000
"""Launches that are recorded as one CUDA graph, which is replayed."""


@dataclass(frozen=True, slots=True)
class WavefrontSpeed:
    """Times of one pair of `length` x `length` bases, with a launch for each anti-diagonal and by our backend.

    Lists have one number for each repetition.

    Attributes
    ----------
    length : int
    launched_seconds : list of float
        Seconds from host arrays to the score, with each launch made by the host.
    replayed_seconds : list of float
        The same with the launches recorded once and replayed as a CUDA graph, which takes the host's work out of them.
    launched_events, replayed_events : list of float
        Seconds of the same two by the device's clock, from the first kernel to the last.
    ours_seconds : list of float
        Seconds of the backend's `forward_pairs`, from host arrays to the score.
    expected : float
        The float64 score of the CPU backend, log10.
    difference, ours_difference : float
        Absolute difference from `expected`, divided by its size if that is above 1.
    """

    length: int
    launched_seconds: list[float]
    replayed_seconds: list[float]
    launched_events: list[float]
    replayed_events: list[float]
    ours_seconds: list[float]
    expected: float
    difference: float
    ours_difference: float

    @property
    def ratio(self) -> float:
        """How many times faster ours is than the faster one of the other two, by medians."""
        fastest = min(statistics.median(self.launched_seconds), statistics.median(self.replayed_seconds))
        return fastest / statistics.median(self.ours_seconds)


@dataclass(frozen=True, slots=True)
class LogPair:
    """A pair as wavefront.cu takes it.

    Attributes
    ----------
    rows : float32[12, m]
        Natural logarithms of the row parameters.
    letters : uint8[n]
    starts : tuple of np.float32
        Natural logarithms of M[0,0], D[0,0] and D[0,j].
    """

    rows: NDArray[np.float32]
    letters: NDArray[np.uint8]
    starts: tuple[np.float32, np.float32, np.float32]


class Run(NamedTuple):
    """A score (log10), seconds from host arrays to it, and seconds of the kernels by the device's clock."""

    score: float
    seconds: float
    events: float


def source() -> str:
    """Text of cuda/published/wavefront.cu."""
    return sources.source({"ROW_SIZE": ROW_SIZE, "LETTERS": len(LETTERS)}, "published/wavefront.cu")


def make_pair(length: int, seed: int = 1) -> PairBatch:
    """A random pair of the profile model with its normalised parameters: a haplotype, and a read of it with errors."""
    (group,) = make_groups(length, 1, seed)
    (read,), (haplotype,) = group.reads, codes_of(group.haplotypes)
    model = profile.preset("normalised")
    one, ends = np.array([0, 1]), np.array([0, length])
    probabilities = profile.one_hot(read.bases, gatk.ERROR[read.base_quality])
    return PairBatch(one, one, ends, ends, haplotype, model.start, profiles=model.profiles(probabilities))


def log_pair(batch: PairBatch) -> LogPair:
    """The one pair of a batch in logarithms."""
    columns = len(batch.haplotypes)
    starts = np.array([batch.start.match, batch.start.deletion / columns, 1 / columns])
    with np.errstate(divide="ignore"):  # a probability of 0 has the logarithm -inf
        first, corner, deletion = np.log(starts).astype(np.float32)
        return LogPair(
            np.log(rows_of(batch).T).astype(np.float32, order="C"), batch.haplotypes, (first, corner, deletion)
        )


class Wavefront:
    """Scores pairs on a CUDA device, with one launch for each anti-diagonal.

    Parameters
    ----------
    device : int
    """

    def __init__(self, device: int = 0) -> None:
        import cupy

        self._cupy = cupy
        self._device = cupy.cuda.Device(device)
        with self._device:
            module = cupy.RawModule(code=source(), options=sources.OPTIONS)
            self._stream = cupy.cuda.Stream(non_blocking=True)
            self._diagonal, self._advance, self._sum = (
                module.get_function(f"wavefront_{name}") for name in ("diagonal", "advance", "sum")
            )

    def score(self, pair: LogPair, replay: bool) -> Run:
        """Score a pair, with launches by the host or by replays of a graph. Recording the graph is not timed."""
        cupy = self._cupy
        m, n = pair.rows.shape[1], len(pair.letters)
        with self._device, self._stream as stream:
            states = cupy.empty((3, 3, m + 1), dtype=np.float32)
            last, first, result = cupy.empty(n + 1, np.float32), cupy.zeros(1, np.int32), cupy.empty(1, np.float64)
            rows, letters = cupy.empty(pair.rows.shape, np.float32), cupy.empty(n, np.uint8)
            arguments = (rows, letters, np.int32(m), np.int32(n), *pair.starts, first)
            after = (states, last)
            play = self._recorded(m, n, first, arguments, after) if replay else None
            stream.synchronize()
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            start = time.perf_counter()
            rows.set(pair.rows)
            letters.set(pair.letters)
            begin.record()
            if play is not None:
                play()
            else:
                for diagonal in range(m + n + 1):
                    blocks = -(-_cells(diagonal, m, n) // BLOCK)
                    self._diagonal((blocks,), (BLOCK,), (*arguments, np.int32(diagonal), *after))
            self._sum((1,), (32,), (last, np.int32(n), result))
            end.record()
            score = float(result.get()[0]) / math.log(10)
            seconds = time.perf_counter() - start
            return Run(score, seconds, cupy.cuda.get_elapsed_time(begin, end) / 1000)

    def _recorded(
        self, m: int, n: int, first: Any, arguments: tuple[Any, ...], after: tuple[Any, ...]
    ) -> Callable[[], None]:
        """Record launches as a graph whose replays cover all diagonals. Those after the last diagonal do nothing."""
        count = min(RECORDED_LAUNCHES, m + n + 1)
        blocks = -(-(min(m, n) + 1) // BLOCK)
        self._stream.begin_capture()
        for step in range(count):
            self._diagonal((blocks,), (BLOCK,), (*arguments, np.int32(step), *after))
        self._advance((1,), (1,), (first, np.int32(count)))
        graph = self._stream.end_capture()
        graph.upload(self._stream)

        def play() -> None:
            for _ in range(-(-(m + n + 1) // count)):
                graph.launch(self._stream)

        return play


def _cells(diagonal: int, m: int, n: int) -> int:
    """Cells of an anti-diagonal of (m + 1) x (n + 1)."""
    return min(m, diagonal) - max(0, diagonal - n) + 1


def measure_wavefront(
    choice: Choice,
    lengths: Sequence[int] = DEFAULT_LENGTHS,
    *,
    repetitions: int = 5,
    threads: int = 1,
    announce: Callable[[str], None] = lambda message: None,
) -> Iterator[WavefrontSpeed]:
    """Time one pair of each length in each way, on the first device chosen. A first run of each is not counted.

    Raises
    ------
    BackendUnavailable
        Without a CUDA device, or without the CPU backend, whose float64 scores are the reference.
    """
    device = choice.devices[0] if choice.devices else None
    backend = backends.load(choice.backend, device, choice.device_memory)
    wavefront, exact = Wavefront(device or 0), backends.load("cpu")
    return (_measure(wavefront, backend, exact, length, repetitions, threads, announce) for length in lengths)


def _measure(
    wavefront: Wavefront,
    backend: Backend,
    exact: Backend,
    length: int,
    repetitions: int,
    threads: int,
    announce: Callable[[str], None],
) -> WavefrontSpeed:
    everything = np.zeros(1, dtype=np.int64)
    batch = make_pair(length)
    announce(f"{length:,} bases: {repetitions + 1} times {2 * length + 1:,} launches, twice; float64 on the CPU")
    expected = float(exact.forward_pairs(batch, everything, threads).log10[0])
    pair = log_pair(batch)
    launched = [wavefront.score(pair, replay=False) for _ in range(repetitions + 1)][1:]
    replayed = [wavefront.score(pair, replay=True) for _ in range(repetitions + 1)][1:]
    ours = []
    for _ in range(repetitions + 1):
        start = time.perf_counter()
        score = float(backend.forward_pairs(batch, everything, threads).log10[0])
        ours.append(time.perf_counter() - start)
    return WavefrontSpeed(
        length=length,
        launched_seconds=[run.seconds for run in launched],
        replayed_seconds=[run.seconds for run in replayed],
        launched_events=[run.events for run in launched],
        replayed_events=[run.events for run in replayed],
        ours_seconds=ours[1:],
        expected=expected,
        difference=max(abs(run.score - expected) for run in (*launched, *replayed)) / max(1, abs(expected)),
        ours_difference=abs(score - expected) / max(1, abs(expected)),
    )
