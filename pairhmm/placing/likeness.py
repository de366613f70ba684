"""How alike samples are in all groups: their neighbours, and the distances of each two."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from pairhmm.placing.collecting import mixed
from pairhmm.placing.properties import Neighbours
from pairhmm.sketching.base import Comparer
from pairhmm.sketching.distances import jaccard
from pairhmm.sketching.planes import planes_of
from pairhmm.sketching.published import BITS, PRIME, SLOTS
from pairhmm.sketching.sketches import Scheme, Sketches

PUBLISHED = Scheme("published", slots=SLOTS, bits=BITS)
_NEIGHBOUR_BITS = 16
"""Bits of a slot that neighbours are sought by. Different values have the same ones once in 65,536 slots."""


def joint_scheme(groups: int) -> Scheme:
    """The scheme of `joint_sketches` of so many groups."""
    return Scheme("permutation", slots=SLOTS << (groups - 1).bit_length(), bits=_NEIGHBOUR_BITS)


def joint_sketches(signatures: Sequence[NDArray[np.uint32]]) -> Sketches:
    """The signatures of all groups end to end, as sketches, for `nearest_neighbours`.

    Slots beyond the last group, and those of a sample without tokens in a group, differ between any two samples, up to
    chance. So a lack of properties makes nobody alike.
    """
    count, scheme = len(signatures[0]), joint_scheme(len(signatures))
    values = np.empty((count, scheme.slots), dtype=np.uint32)
    numbers = np.arange(count * scheme.slots, dtype=np.uint64).reshape(values.shape)
    values[:] = mixed(numbers).astype(np.uint32)
    for group, of_group in enumerate(signatures):
        present = of_group[:, 0] != PRIME
        values[present, group * SLOTS : (group + 1) * SLOTS] = of_group[present]
    return sketches_of(values, scheme)


def sketches_of(values: NDArray[np.uint32], scheme: Scheme) -> Sketches:
    """Slots as sketches of samples that are named by their numbers."""
    names = list(map(str, range(len(values))))
    counts = np.ones(len(values), dtype=np.int32)
    return Sketches(scheme, names, planes_of(values, scheme.bits), np.zeros(len(values)), counts)


def nearest_neighbours(sketches: Sketches, count: int, comparer: Comparer, threads: int) -> Neighbours:
    """The `count` other samples with the most equal slots with each one. A sample without any is no neighbour."""
    found, equal = comparer.nearest(sketches, sketches, min(count + 1, len(sketches)), threads)
    wanted = (found >= 0) & (equal > 0) & (found != np.arange(len(found), dtype=np.int32)[:, None])
    # Where many are equal to a sample, it may not be among its own nearest ones.
    wanted &= np.cumsum(wanted, axis=1) <= count
    offsets = np.zeros(len(found) + 1, dtype=np.int64)
    np.cumsum(wanted.sum(axis=1), out=offsets[1:])
    return Neighbours(found[wanted].astype(np.int32, copy=False), offsets)


def distances_of(
    sketches: Sequence[Sketches],
    has_tokens: Sequence[NDArray[np.bool_]],
    weights: NDArray[np.float64],
    comparer_of: Callable[[Scheme], Comparer],
    threads: int,
) -> NDArray[np.float64]:
    """The distance ``sqrt(1 - J)`` of each two samples, shape (samples, samples).

    J is the weighted mean of the Jaccard indices in the groups in which both have properties, and 0 if there is none.

    Parameters
    ----------
    sketches : sequence of Sketches
        Of each group.
    has_tokens : sequence of ndarray, shape (samples,), bool
        Of each group.
    weights : ndarray, shape (groups,), float64
    comparer_of : callable
        The comparer of sketches of a scheme.
    threads : int
    """
    count = len(has_tokens[0])
    alike, weight = np.zeros((count, count)), np.zeros((count, count))
    for of_group, present, share in zip(sketches, has_tokens, weights.tolist(), strict=True):
        if not share:
            continue
        both = share * np.outer(present, present)
        equal = comparer_of(of_group.scheme).equal_slots(of_group, of_group, threads)
        alike += both * jaccard(equal, of_group.scheme)
        weight += both
    index = np.divide(alike, weight, out=np.zeros_like(alike), where=weight > 0)
    np.fill_diagonal(index, 1)
    distances: NDArray[np.float64] = np.sqrt(np.maximum(1 - index, 0))
    return distances
