"""Embeds samples in the plane: projection, blending with neighbours, classical scaling, and how far to trust them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import erf, sqrt
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import OptionError
from pairhmm.map.base import Embedder
from pairhmm.map.similarity import (
    PUBLISHED,
    distances_of,
    is_above_chance,
    joint_scheme,
    joint_sketches,
    nearest_neighbours,
    sketches_of,
)
from pairhmm.map.sketch.base import Comparer
from pairhmm.map.sketch.pairs import least_of_slots
from pairhmm.map.sketch.published import SLOTS
from pairhmm.map.sketch.sketches import Scheme, Sketches
from pairhmm.map.tokens import Neighbours, TokenSets
from pairhmm.options import Within, check_fields, check_number

GROUPS = ("kmers", "hits", "genotypes", "sheet")
"""The groups of properties, in the order of the table's columns."""


Quantisation = Literal["cdf", "rank"]


@dataclass(frozen=True, slots=True)
class MapOptions:
    """How samples are placed.

    Attributes
    ----------
    alpha : float
        How far the mean of its neighbours draws a sample, 0 (not at all) to 1.
    neighbours : int
        Neighbours of a sample.
    passes : int
        Passes of blending.
    seed : int
        Chooses the planes that signatures are projected to.
    quantise : str
        How coordinates become cells: by the distribution of Gauss ("cdf") or by rank.
    """

    alpha: Annotated[float, Within(0, 1)] = 0.3
    neighbours: Annotated[int, Within(1, 1000)] = 10
    passes: Annotated[int, Within(0, 1000)] = 5
    seed: Annotated[int, Within(0, 2**63 - 1)] = 1
    quantise: Quantisation = "cdf"

    def __post_init__(self) -> None:
        check_fields(self)


def weights_of(groups: Sequence[str], by_group: Mapping[str, float]) -> NDArray[np.float64]:
    """The weights of groups, whose sum is 1. A group without a given weight has the weight 1 before that.

    Raises OptionError for a weight of a group that is not there, a weight below 0, and weights that are all 0.
    """
    for group, weight in by_group.items():
        if group not in groups:
            raise OptionError("weight", group, f"is not one of this map's groups: {', '.join(groups)}")
        check_number("weight", weight, 0, 1e6)
    weights: NDArray[np.float64] = np.array([by_group.get(group, 1.0) for group in groups], dtype=np.float64)
    if not weights.sum() > 0:
        raise OptionError("weight", 0, "is the weight of every group")
    weights /= weights.sum()
    return weights


def matrices_of(groups: Sequence[str], seed: int) -> NDArray[np.float32]:
    """The matrix that projects each group's signatures, shape (groups, 128, 2).

    Entries have the distribution N(0, 1) / sqrt(128). They depend on the seed and the group's name only.
    """
    matrices = np.empty((len(groups), SLOTS, 2), dtype=np.float32)
    for group, matrix in zip(groups, matrices, strict=True):
        random = np.random.Generator(np.random.PCG64([seed, *group.encode()]))
        matrix[:] = random.standard_normal((SLOTS, 2)) / np.sqrt(SLOTS)
    return matrices


MOST_SAMPLES = 2000
"""Samples that are scaled exactly: the time grows with their cube."""


def scaled(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Positions in the plane from distances (Torgerson 1952; Gower 1966), shape (samples, 2).

    They are the two largest principal axes of the doubly centred squares of distances. Of each axis, the coordinate
    that is farthest from 0 is positive.
    """
    squares = distances**2
    means = squares.mean(axis=0)
    centred = -0.5 * (squares - means - means[:, None] + means.mean())
    values, vectors = np.linalg.eigh(centred)
    axes = vectors[:, :-3:-1] * np.sqrt(np.maximum(values[:-3:-1], 0))
    farthest = axes[np.abs(axes).argmax(axis=0), [0, 1]]
    positions: NDArray[np.float64] = axes * np.where(farthest < 0, -1, 1)
    return positions


CELLS = 1 << 16
"""Cells of an axis."""


def cells_by_cdf(coordinates: NDArray[np.float32]) -> NDArray[np.int64]:
    """The cells of positions by the Gaussian distribution function of their z-scores, shape (samples, 2).

    Positions that are all equal are in the middle.
    """
    wide = coordinates.astype(np.float64)
    differs = wide.min(axis=0) < wide.max(axis=0)
    deviations = np.where(differs, wide.std(axis=0), 1)
    scores = np.where(differs, (wide - wide.mean(axis=0)) / deviations, 0)
    below = np.array([0.5 + 0.5 * erf(score / sqrt(2)) for score in scores.reshape(-1).tolist()])
    return np.minimum((below * CELLS).astype(np.int64), CELLS - 1).reshape(scores.shape)


def cells_by_rank(coordinates: NDArray[np.float32]) -> NDArray[np.int64]:
    """The cells of positions by their rank on each axis, shape (samples, 2). Equal coordinates share a rank."""
    cells = np.empty(coordinates.shape, dtype=np.int64)
    for axis in range(coordinates.shape[1]):
        of_axis = coordinates[:, axis]
        cells[:, axis] = np.searchsorted(np.sort(of_axis), of_axis) * CELLS // len(of_axis)
    return cells


def trustworthiness(distances: NDArray[np.float64], positions: NDArray[np.float64], neighbours: int) -> float | None:
    """The trustworthiness of a map (Venna and Kaski 2001): 1 if near samples on the map are near in truth.

    ``1 - 2 / (n k (2 n - 3 k - 1)) * sum of (r(i, j) - k)``, over samples j that are among the k nearest of i on the
    map, and not in truth. r(i, j) is 1 more than the number of samples that are truly nearer to i than j is, so that
    equal distances count for the map.

    There are fewer than k neighbours where samples are no more than twice as many, and None for fewer than three
    samples.
    """
    count = len(positions)
    k = min(neighbours, (count - 1) // 2)
    if k < 1:
        return None
    penalty = 0
    others = ~np.eye(count, dtype=bool)
    for sample in range(count):
        is_other = others[sample]
        on_map = np.square(positions[is_other] - positions[sample]).sum(axis=1)
        nearest = np.argsort(on_map, kind="stable")[:k]
        truth = distances[sample][is_other]
        ranks = np.searchsorted(np.sort(truth), truth[nearest]) + 1
        penalty += int(np.maximum(ranks - k, 0).sum())
    return 1 - 2 * penalty / (count * k * (2 * count - 3 * k - 1))


@dataclass(frozen=True, slots=True)
class SampleMap:
    """Samples in the plane.

    Attributes
    ----------
    names : list of str
        The samples.
    groups : tuple of str
        Groups of properties.
    weights : ndarray, shape (groups,), float64
        Their sum is 1.
    options : MapOptions
    positions : ndarray, shape (samples, 2), float32
        The weighted projections, blended with neighbours.
    cells : ndarray, shape (samples, 2), int64
        0 to 65,535.
    projections : ndarray, shape (groups, samples, 2), float32
        NaN for samples without properties in a group.
    neighbours : Neighbours
    exact : ndarray, shape (samples, 2), float64, or None
        Classical multidimensional scaling; None for more than 2,000 samples.
    trust : float or None
        Trustworthiness of `positions`; None without `exact`, and for fewer than three samples.
    exact_trust : float or None
        That of `exact`.
    colours : list of str or None
        Each sample's value of the column that colours the picture.
    is_above_chance : bool
        Whether any two samples have more in common than chance gives. If not, there are no positions (NaN, and cells
        0), no neighbours, no `exact` and no trustworthiness.
    """

    names: list[str]
    groups: tuple[str, ...]
    weights: NDArray[np.float64]
    options: MapOptions
    positions: NDArray[np.float32]
    cells: NDArray[np.int64]
    projections: NDArray[np.float32]
    neighbours: Neighbours
    exact: NDArray[np.float64] | None
    trust: float | None
    exact_trust: float | None
    colours: list[str] | None = None
    is_above_chance: bool = True

    @property
    def is_exact_better(self) -> bool:
        """Whether `exact` has the higher trustworthiness, so that the picture begins with it."""
        return self.trust is not None and self.exact_trust is not None and self.exact_trust > self.trust


def make_map(
    names: Sequence[str],
    groups: Mapping[str, TokenSets],
    weights: NDArray[np.float64],
    options: MapOptions,
    embedder: Embedder,
    comparer_of: Callable[[Scheme], Comparer],
    threads: int,
    *,
    sketches: Mapping[str, Sketches] | None = None,
    colours: list[str] | None = None,
    slot_bits: int | None = None,
) -> SampleMap:
    """Place two samples or more by groups of properties.

    `sketches` are of groups whose samples have sketches that say more than a signature of 128 slots, for the exact
    scaling. The group "kmers" was made of slots of `slot_bits`, which may be equal by chance.
    """
    sets = list(groups.values())
    projections = embedder.projections(sets, matrices_of(list(groups), options.seed), threads)
    start = np.einsum("g,gsx->sx", weights, projections).astype(np.float32)
    has_tokens = [np.diff(tokens.offsets) > 0 for tokens in sets]
    weighted = [one for one, weight in zip(sets, weights, strict=True) if weight]
    comparer = comparer_of(joint_scheme(len(weighted)))
    joint = joint_sketches(weighted, embedder, threads)
    neighbours, most_equal = nearest_neighbours(joint, options.neighbours, comparer, threads)
    by_chance = {name: _by_chance(slot_bits if name == "kmers" else None) for name in groups}
    pairs = len(names) * (len(names) - 1) // 2
    of_joint = max(by_chance[name] for name, weight in zip(groups, weights, strict=True) if weight)
    is_alike = most_equal >= least_of_slots(SLOTS * len(weighted), of_joint + 2.0**-joint.scheme.bits, pairs)
    positions = embedder.blended(start, neighbours, options.alpha, options.passes, threads)
    exact, trust, exact_trust = None, None, None
    if len(names) <= MOST_SAMPLES:
        known = sketches or {}
        of_groups = [
            known[name] if name in known else sketches_of(embedder.signatures(one, threads), PUBLISHED)
            for name, one in groups.items()
        ]
        is_alike = is_alike or any(
            is_above_chance(one, present, comparer_of(one.scheme), by_chance[name], threads)
            for name, one, present, weight in zip(groups, of_groups, has_tokens, weights, strict=True)
            if weight
        )
        truth = distances_of(of_groups, has_tokens, weights, comparer_of, threads)
        exact = scaled(truth)
        trust = trustworthiness(truth, positions.astype(np.float64), options.neighbours)
        exact_trust = trustworthiness(truth, exact, options.neighbours)
    cells = (cells_by_cdf if options.quantise == "cdf" else cells_by_rank)(positions)
    for of_group, present in zip(projections, has_tokens, strict=True):
        of_group[~present] = np.nan
    if not is_alike:
        positions, projections = np.full_like(positions, np.nan), np.full_like(projections, np.nan)
        cells, neighbours = np.zeros_like(cells), Neighbours(neighbours.indices[:0], np.zeros_like(neighbours.offsets))
        exact = trust = exact_trust = None
    return SampleMap(
        list(names),
        tuple(groups),
        weights,
        options,
        positions,
        cells,
        projections,
        neighbours,
        exact,
        trust,
        exact_trust,
        colours,
        is_alike,
    )


def _by_chance(slot_bits: int | None) -> float:
    """The Jaccard index of sets of slots that are equal by chance: of K, K 2^-b are in both."""
    if slot_bits is None:
        return 0.0
    shared: float = 2.0**-slot_bits
    return shared / (2 - shared)
