"""Seconds of placing samples on the map, on a GPU and on the CPU; and how far a GPU is from the oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

import numpy as np
from numpy.typing import NDArray

from pairhmm.bench.timing import seconds_of
from pairhmm.engine.calibration import PLACE, is_worth_a_device
from pairhmm.map.base import EMBEDDERS, Embedder
from pairhmm.map.device import WORTH_A_DEVICE, DeviceEmbedder
from pairhmm.map.reference import blend, z_scores
from pairhmm.map.sketch.published import LEAST_FOR_ONE_PERMUTATION, PRIME, SLOTS
from pairhmm.map.tokens import Neighbours, TokenSets

NODES = (34, 100, 400, 1_000, 3_000, 10_000, 30_000, 100_000, 367_000)
"""The published sizes."""

FEW_TOKENS, MANY_TOKENS = (1, LEAST_FOR_ONE_PERMUTATION - 1), (LEAST_FOR_ONE_PERMUTATION, 40)
"""Tokens of the sets of most groups, and of every fifth one."""

NEIGHBOURS, ALPHA, PASSES = 10, 0.5, 5

SLOTS_AT_ONCE = 16
"""Slots whose z-scores the oracle computes at once, so that float64 needs little memory."""


@dataclass(frozen=True, slots=True)
class NodeCohort:
    """Nodes with random properties and neighbours."""

    groups: list[TokenSets]
    matrices: NDArray[np.float32]
    start: NDArray[np.float32]
    neighbours: Neighbours

    @property
    def sets(self) -> int:
        """Sets of tokens."""
        return len(self.groups) * len(self.start)

    def project(self, embedder: Embedder, threads: int) -> NDArray[np.float32]:
        """Sketch and project all nodes."""
        return embedder.projections(self.groups, self.matrices, threads)

    def blend(self, embedder: Embedder, threads: int) -> NDArray[np.float32]:
        """Blend all nodes with their neighbours."""
        return embedder.blended(self.start, self.neighbours, ALPHA, PASSES, threads)

    def place(self, embedder: Embedder, threads: int) -> None:
        """Sketch, project and blend all nodes."""
        self.project(embedder, threads)
        self.blend(embedder, threads)


@dataclass(frozen=True, slots=True)
class MapSpeed:
    """Seconds of a size, the medians of repetitions."""

    nodes: int
    groups: int
    tokens: int
    # From arrays on the host to positions there: sketched, projected and blended
    cpu_seconds: float
    device_seconds: float
    # Seconds of kernels by the device's clock: sketching with projection, and blending
    sketch_seconds: float
    blend_seconds: float
    auto: str  # The backend that "auto" takes

    @property
    def speedup(self) -> float:
        """How many times as fast as the CPU the device is."""
        return self.cpu_seconds / self.device_seconds


@dataclass(frozen=True, slots=True)
class MapDifference:
    """The largest differences from the oracle, which computes in float64."""

    nodes: int
    signatures: int  # Values of signatures that are not the CPU's. All are.
    projections: float
    blends: float


def make_cohort(nodes: int, groups: int, seed: int = 1) -> NodeCohort:
    """Random nodes: sets of 1 to 11 tokens, every fifth group of 12 to 40, and ten neighbours a node."""
    rng = np.random.default_rng([seed, nodes])
    sets = [_token_sets(rng, nodes, MANY_TOKENS if group % 5 == 4 else FEW_TOKENS) for group in range(groups)]
    matrices = (rng.standard_normal((groups, SLOTS, 2)) / np.sqrt(SLOTS)).astype(np.float32)
    start = rng.standard_normal((nodes, 2)).astype(np.float32)
    offsets = NEIGHBOURS * np.arange(nodes + 1, dtype=np.int64)
    indices = rng.integers(0, nodes, NEIGHBOURS * nodes, dtype=np.int32)
    return NodeCohort(sets, matrices, start, Neighbours(indices, offsets))


def _token_sets(rng: np.random.Generator, nodes: int, sizes: tuple[int, int]) -> TokenSets:
    """Sets of sorted, distinct tokens: sums of random steps."""
    counts = rng.integers(sizes[0], sizes[1] + 1, nodes)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    sums = np.cumsum(rng.integers(1, PRIME // (MANY_TOKENS[1] + 1), int(offsets[-1])))
    before = np.concatenate([[0], sums])[offsets[:-1]]
    return TokenSets((sums - np.repeat(before, counts)).astype(np.uint32), offsets)


def measure_map(
    backend: str,
    device: int | None,
    nodes: Sequence[int] = NODES,
    groups: int = 10,
    *,
    repetitions: int = 3,
    threads: int = 1,
) -> Iterator[MapSpeed]:
    """Time each size, with so many groups of properties, on a device (by default the first) and on the CPU.

    BackendUnavailable or InputError if the backend or the device is not available.
    """
    embedder, cpu = _device_embedder(backend, device), EMBEDDERS.on_the_cpu()
    for count in nodes:
        cohort = make_cohort(count, groups)
        device_seconds = median(seconds_of(partial(cohort.place, embedder, threads), repetitions))
        sketch = _kernels(embedder, partial(cohort.project, embedder, threads), repetitions)
        blended = _kernels(embedder, partial(cohort.blend, embedder, threads), repetitions)
        cpu_seconds = median(seconds_of(partial(cohort.place, cpu, threads), repetitions))
        worth = is_worth_a_device(PLACE, cohort.sets, threads, WORTH_A_DEVICE)
        tokens = sum(len(group.tokens) for group in cohort.groups)
        auto = EMBEDDERS.chosen("auto", None, worth)
        yield MapSpeed(count, groups, tokens, cpu_seconds, device_seconds, sketch, blended, auto)


def measure_map_differences(
    backend: str, device: int | None, nodes: Sequence[int] = NODES, *, threads: int = 1
) -> Iterator[MapDifference]:
    """Compare a device with the CPU's signatures, and with the oracle's projections and blends."""
    embedder, cpu = _device_embedder(backend, device), EMBEDDERS.on_the_cpu()
    for count in nodes:
        cohort = make_cohort(count, 1)
        signatures = cpu.signatures(cohort.groups[0], threads)
        wrong = int(np.count_nonzero(embedder.signatures(cohort.groups[0], threads) != signatures))
        expected = np.zeros((count, 2))
        for slot in range(0, SLOTS, SLOTS_AT_ONCE):
            some = slice(slot, slot + SLOTS_AT_ONCE)
            expected += z_scores(signatures[:, some]) @ cohort.matrices[0, some].astype(np.float64)
        found, blended = cohort.project(embedder, threads)[0], cohort.blend(embedder, threads)
        exact = blend(cohort.start, cohort.neighbours, ALPHA, PASSES)
        yield MapDifference(count, wrong, _largest(found - expected), _largest(blended - exact))


def _device_embedder(backend: str, device: int | None) -> DeviceEmbedder:
    embedder = EMBEDDERS.load(backend, device=device)
    assert isinstance(embedder, DeviceEmbedder)
    return embedder


def _largest(differences: NDArray[np.float64]) -> float:
    return float(np.abs(differences).max(initial=0))


def _kernels(embedder: DeviceEmbedder, run: Callable[[], object], repetitions: int) -> float:
    """Seconds of all kernels of a call. Calls just before it keep the device's clock up."""
    totals = []
    for _ in range(repetitions + 1):
        with embedder.sketcher.timing() as seconds:
            run()
        totals.append(sum(seconds))
    return median(totals[1:])
