"""Places samples on the map."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.base import Placer
from pairhmm.map.likeness import (
    PUBLISHED,
    distances_of,
    is_above_chance,
    joint_scheme,
    joint_sketches,
    nearest_neighbours,
    sketches_of,
)
from pairhmm.map.options import MapOptions, matrices_of
from pairhmm.map.properties import Neighbours, TokenSets
from pairhmm.map.quantising import cells_by_cdf, cells_by_rank
from pairhmm.map.scaling import MOST_SAMPLES, scaled
from pairhmm.map.sketch.base import Comparer
from pairhmm.map.sketch.chance import least_of_slots
from pairhmm.map.sketch.published import SLOTS
from pairhmm.map.sketch.sketches import Scheme, Sketches
from pairhmm.map.trustworthiness import trustworthiness


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


def make_map(
    names: Sequence[str],
    groups: Mapping[str, TokenSets],
    weights: NDArray[np.float64],
    options: MapOptions,
    placer: Placer,
    comparer_of: Callable[[Scheme], Comparer],
    threads: int,
    *,
    sketches: Mapping[str, Sketches] | None = None,
    colours: list[str] | None = None,
    slot_bits: int | None = None,
) -> SampleMap:
    """Place samples.

    Parameters
    ----------
    names : sequence of str
        Two samples or more.
    groups : mapping of str to TokenSets
        The properties of these samples.
    weights : ndarray, shape (groups,), float64
    options : MapOptions
    placer : Placer
    comparer_of : callable
        The comparer of sketches of a scheme.
    threads : int
    sketches : mapping of str to Sketches, optional
        Groups whose samples have sketches that say more than a signature of 128 slots, for the exact scaling.
    colours : list of str, optional
    slot_bits : int, optional
        Bits of the slots that the group "kmers" was made of, which may be equal by chance.
    """
    sets = list(groups.values())
    projections = placer.projections(sets, matrices_of(list(groups), options.seed), threads)
    start = np.einsum("g,gsx->sx", weights, projections).astype(np.float32)
    has_tokens = [np.diff(one.offsets) > 0 for one in sets]
    weighted = [one for one, weight in zip(sets, weights, strict=True) if weight]
    comparer = comparer_of(joint_scheme(len(weighted)))
    joint = joint_sketches(weighted, placer, threads)
    neighbours, most_equal = nearest_neighbours(joint, options.neighbours, comparer, threads)
    by_chance = {name: _by_chance(slot_bits if name == "kmers" else None) for name in groups}
    pairs = len(names) * (len(names) - 1) // 2
    of_joint = max(by_chance[name] for name, weight in zip(groups, weights, strict=True) if weight)
    is_alike = most_equal >= least_of_slots(SLOTS * len(weighted), of_joint + 2.0**-joint.scheme.bits, pairs)
    positions = placer.blended(start, neighbours, options.alpha, options.passes, threads)
    exact, trust, exact_trust = None, None, None
    if len(names) <= MOST_SAMPLES:
        known = sketches or {}
        of_groups = [
            known[name] if name in known else sketches_of(placer.signatures(one, threads), PUBLISHED)
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
