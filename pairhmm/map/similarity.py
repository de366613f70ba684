"""Similarity of samples over all groups of properties: nearest neighbours, and distances of pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.base import Embedder
from pairhmm.map.sketch.base import Comparer
from pairhmm.map.sketch.pairs import jaccard, least_above_chance, least_of_slots
from pairhmm.map.sketch.published import BITS, SLOTS, mixed
from pairhmm.map.sketch.sketches import WORD_BITS, Scheme, Sketches, planes_of
from pairhmm.map.tokens import Neighbours, TokenSets
from pairhmm.sequences.arrays import offsets

PUBLISHED = Scheme("published", slots=SLOTS, bits=BITS)
_NEIGHBOUR_BITS = 16
"""Bits of a slot that neighbours are sought by. Different values have the same ones once in 65,536 slots."""

_VALUES_AT_ONCE = 1 << 21
"""Slots that are held as numbers at a time. They take 26 bytes each."""


def joint_scheme(groups: int) -> Scheme:
    """The scheme of `joint_sketches` of this many groups."""
    return Scheme("permutation", slots=SLOTS << (groups - 1).bit_length(), bits=_NEIGHBOUR_BITS)


def joint_sketches(groups: Sequence[TokenSets], embedder: Embedder, threads: int) -> Sketches:
    """The signatures of all groups end to end, as sketches, for `nearest_neighbours`.

    Slots beyond the last group, and those of a sample without tokens in a group, differ between any two samples, up to
    chance. So a lack of properties makes nobody alike. Signatures are made for some samples at a time: of all together,
    they would take more memory than anything else.
    """
    count, scheme = len(groups[0]), joint_scheme(len(groups))
    planes = np.empty((count, scheme.bits, scheme.slots // WORD_BITS), dtype=np.uint64)
    rows = max(1, _VALUES_AT_ONCE // scheme.slots)
    for first in range(0, count, rows):
        end = min(first + rows, count)
        numbers = np.arange(first * scheme.slots, end * scheme.slots, dtype=np.uint64).reshape(end - first, -1)
        values = mixed(numbers).astype(np.uint32)
        for group, sets in enumerate(groups):
            part = TokenSets(sets.tokens, sets.offsets[first : end + 1])
            present = np.diff(part.offsets) > 0
            values[present, group * SLOTS : (group + 1) * SLOTS] = embedder.signatures(part, threads)[present]
        planes[first:end] = planes_of(values, scheme.bits)
    return _sketches(planes, scheme)


def sketches_of(values: NDArray[np.uint32], scheme: Scheme) -> Sketches:
    """Slots as sketches of samples that are named by their numbers."""
    return _sketches(planes_of(values, scheme.bits), scheme)


def _sketches(planes: NDArray[np.uint64], scheme: Scheme) -> Sketches:
    names = list(map(str, range(len(planes))))
    return Sketches(scheme, names, planes, np.zeros(len(planes)), np.ones(len(planes), dtype=np.int32))


def nearest_neighbours(sketches: Sketches, count: int, comparer: Comparer, threads: int) -> tuple[Neighbours, int]:
    """The `count` other samples with the most equal slots with each one, and the equal slots of the nearest two.

    A sample without any equal slot is no neighbour.
    """
    nearest, equal = comparer.nearest(sketches, sketches, min(count + 1, len(sketches)), threads)
    wanted = (nearest >= 0) & (equal > 0) & (nearest != np.arange(len(nearest), dtype=np.int32)[:, None])
    # If many samples equal a sample, it may be missing from its own nearest ones.
    wanted &= np.cumsum(wanted, axis=1) <= count
    most = int(equal[wanted].max(initial=0))
    return Neighbours(nearest[wanted].astype(np.int32, copy=False), offsets(wanted.sum(axis=1))), most


def is_above_chance(
    sketches: Sketches, present: NDArray[np.bool_], comparer: Comparer, by_chance: float, threads: int
) -> bool:
    """Whether any two of the samples that are present have more equal slots than chance gives.

    Signatures have no numbers of k-mers. `by_chance` is how probable it is that a slot of signatures is equal by
    chance, beyond its bits.
    """
    count = len(sketches)
    pairs = count * (count - 1) // 2
    equal = comparer.equal_slots(sketches, sketches, threads)
    equal[~present] = equal[:, ~present] = 0
    np.fill_diagonal(equal, 0)
    if not sketches.kmers.any():
        least = least_of_slots(sketches.scheme.slots, by_chance + 2.0**-sketches.scheme.bits, pairs)
        return bool(equal.max(initial=0) >= least)
    needed = least_above_chance(sketches.scheme, sketches.kmers, pairs)
    return bool((equal >= np.maximum(needed[:, None], needed)).any())


def distances_of(
    sketches: Sequence[Sketches],
    has_tokens: Sequence[NDArray[np.bool_]],
    weights: NDArray[np.float64],
    comparer_of: Callable[[Scheme], Comparer],
    threads: int,
) -> NDArray[np.float64]:
    """The distance ``sqrt(1 - J)`` of each two samples, shape (samples, samples).

    J is the weighted mean of the Jaccard indices in the groups in which both have properties, and 0 if there is none.
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
