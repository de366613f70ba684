"""Pairs of samples: which are compared, the distances of equal slots, and what is above chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import lgamma
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.sketch.base import NO_TARGET, Comparer, Nearest, nearest_of_both, without_self
from pairhmm.map.sketch.sketches import WORD_BITS, Scheme, Sketches

UNRELATED = 1.0
"""The Mash distance of samples that share nothing, and the largest one."""

Floats = NDArray[np.float64]


class Distances(NamedTuple):
    """Distances of pairs of samples (`pairhmm.map.sketch.distances.SampleDistances`): float64 (pairs,) each."""

    jaccard: Floats
    mash_distance: Floats
    containment: Floats
    ani: Floats


def jaccard(equal: NDArray[np.integer], scheme: Scheme) -> Floats:
    """The Jaccard index of two samples from the slots that are equal.

    Slots of b bits are equal by chance with the probability 2^-b, so that an equal part e of the slots estimates
    ``(e - 2^-b) / (1 - 2^-b)`` (Li and Koenig, "b-Bit Minwise Hashing", WWW 2010, for sets that are small beside the
    universe of k-mers). Values below 0 are 0.
    """
    by_chance = 2.0**-scheme.bits
    return np.maximum((equal / scheme.slots - by_chance) / (1 - by_chance), 0.0)


def mash_distance(jaccard: Floats, k: int) -> Floats:
    """The Mash distance ``-ln(2j / (1 + j)) / k``, at most 1 (Ondov et al., "Mash", Genome Biology 17:132, 2016).

    It estimates how many mutations a base has, if they are independent of each other.
    """
    unshared = np.divide(1 + jaccard, 2 * jaccard, out=np.full_like(jaccard, np.inf), where=jaccard > 0)
    return np.minimum(np.log(unshared) / k, UNRELATED)


def containment(jaccard: Floats, kmers: Floats, other_kmers: Floats) -> Floats:
    """The part of the smaller sample's k-mers that the other one has.

    Two samples of n and m k-mers with the Jaccard index j share ``j (n + m) / (1 + j)``. The larger of both
    containments is the symmetric one that sourmash calls max containment (Koslicki and Zabeti, Applied Mathematics and
    Computation 354:206, 2019, estimate containment from minima likewise).
    """
    shared = jaccard / (1 + jaccard) * (kmers + other_kmers)
    smaller = np.minimum(kmers, other_kmers)
    part = np.divide(shared, smaller, out=np.zeros_like(shared), where=smaller > 0)
    return np.minimum(part, 1.0)


def identity(containment: Floats, k: int) -> Floats:
    """The average nucleotide identity ``c^(1/k)`` of a containment c.

    A k-mer is shared if none of its k bases is mutated (Hera, Pierce-Ward and Koslicki, Genome Research 33:1061, 2023).
    """
    return np.power(containment, 1 / k)


def distances_of(equal: NDArray[np.integer], kmers: Floats, other_kmers: Floats, scheme: Scheme) -> Distances:
    """All distances of pairs, from their equal slots, and the distinct k-mers of the two samples of each."""
    # A scheme has at most 8,193 different numbers of equal slots, and so as many Jaccard indices.
    index = jaccard(np.arange(scheme.slots + 1), scheme)
    alike = index[equal]
    part = containment(alike, kmers, other_kmers)
    return Distances(alike, mash_distance(index, scheme.k)[equal], part, identity(part, scheme.k))


def least_equal(max_distance: float, scheme: Scheme) -> int:
    """The fewest equal slots of a pair whose Mash distance is at most `max_distance`; ``slots + 1`` if no pair has."""
    index = jaccard(np.arange(scheme.slots + 1), scheme)
    near = np.flatnonzero(mash_distance(index, scheme.k) <= max_distance)
    return int(near[0]) if len(near) else scheme.slots + 1


FALSE_ALARMS = 0.001
"""Share of collections without any relation in which a pair is taken to be above chance."""

_MOST_SLOTS, _MOST_BITS = 8192, 16
# In simulations, 2 is enough (tests/map/sketch/test_chance.py).
_CLUMPS = 4
# Numbers of slots that are told apart between a number and twice as many.
_SLOT_STEPS = 8


def least_above_chance(scheme: Scheme, kmers: NDArray[np.float64], pairs: int) -> NDArray[np.int64]:
    """The fewest equal slots that are above chance, of a sample with any other one: int64 (samples,).

    Slots of samples that share nothing are equal with the probability p = 2^-b, so that K slots have K p equal ones in
    the mean, with a standard error of sqrt(K p (1 - p)). What is above chance is the binomial distribution's upper end,
    which one of `FALSE_ALARMS` collections reaches by its most alike pair. Slots that a small sample could not fill are
    copies of its n filled ones, so that several may be equal at once: they count as fewer, K / (1 + 4 K / n^2).
    """
    filled = scheme.slots * -np.expm1(-np.maximum(kmers, 1) / scheme.slots)
    independent = scheme.slots / (1 + _CLUMPS * scheme.slots / filled**2)
    # Rounded down, so that the tails of a few numbers of slots are summed.
    rounded = np.maximum(2 ** (np.floor(np.log2(independent) * _SLOT_STEPS + 0.01) / _SLOT_STEPS), 1).astype(np.int64)
    least = {slots: least_of_slots(slots, 2.0**-scheme.bits, pairs) for slots in set(rounded.tolist())}
    return np.array([-(-least[slots] * scheme.slots // slots) for slots in rounded.tolist()], dtype=np.int64)


@lru_cache(maxsize=256)
def least_of_slots(slots: int, by_chance: float, pairs: int) -> int:
    """`least_above_chance` of filled slots that are equal by chance with a probability."""
    equal = np.arange(slots + 1)
    logs = np.array([lgamma(slots + 1) - lgamma(count + 1) - lgamma(slots - count + 1) for count in equal.tolist()])
    logs += equal * np.log(by_chance) + (slots - equal) * np.log1p(-by_chance)
    tails = np.cumsum(np.exp(logs)[::-1])[::-1]
    below = np.flatnonzero(tails * max(1, pairs) <= FALSE_ALARMS)
    return int(below[0]) if len(below) else slots + 1


def chance_text(scheme: Scheme) -> str:
    """For messages: the similarity by chance, and the cure."""
    by_chance = scheme.slots * 2.0**-scheme.bits
    number = f"{by_chance:,.0f}" if by_chance >= 1 else f"{by_chance:.2g}"
    bits = "1 bit" if scheme.bits == 1 else f"{scheme.bits} bits"
    return f"Of {scheme.slots:,} slots of {bits}, {number} are equal by chance: {_cure(scheme)}"


def _cure(scheme: Scheme) -> str:
    more = []
    if scheme.name == "permutation":
        more += [f"--bits {_MOST_BITS}"] if scheme.bits < _MOST_BITS else []
        more += [f"--slots {_MOST_SLOTS}"] if scheme.slots < _MOST_SLOTS else []
    ways = [" and ".join(more)] if more else []
    return f"sketch with {' or '.join([*ways, f'a smaller --k ({scheme.k} now)'])} to see what is fainter"


SKETCH_BYTES = 1 << 25
"""Bytes of the sketches in a block of samples. Two blocks are in memory at a time."""

MATRIX_PAIRS = 1 << 24
"""Pairs that a comparer counts at once."""

PAIRS_AT_ONCE = 1 << 20
"""Pairs of a `ComparedPairs`, about."""

_STEPS = 16
"""Where samples are compared among themselves, the rows of a matrix are cut into so many steps. A step leaves out the
columns of the steps before it. In one step, each pair would be counted twice."""


class SketchSource(Protocol):
    """Sketches in memory (`Sketches`), or in files that are read part by part."""

    @property
    def scheme(self) -> Scheme: ...

    @property
    def names(self) -> Sequence[str]: ...

    @property
    def kmers(self) -> NDArray[np.float64]: ...

    def __len__(self) -> int: ...

    def part(self, begin: int, end: int) -> Sketches:
        """The samples from `begin` to `end`."""
        ...


@dataclass(frozen=True, slots=True)
class ComparedPairs:
    """Pairs of a query and a target, samples of the two sources, and how many of their slots are equal."""

    query: NDArray[np.int32]
    target: NDArray[np.int32]
    equal: NDArray[np.uint16]


def every_pair(
    queries: SketchSource, targets: SketchSource | None, comparer: Comparer, least_equal: int, threads: int
) -> Iterator[ComparedPairs]:
    """Each query with each target, or each two queries once, with at least so many equal slots.

    Sources of more than `SKETCH_BYTES` are compared block with block, and pairs come in the order of blocks.
    """
    others = queries if targets is None else targets
    for first, end in _blocks(queries):
        part = queries.part(first, end)
        for begin, limit in _blocks(others):
            if targets is None and begin < first:
                continue
            is_own = targets is None and begin == first
            block = part if is_own else others.part(begin, limit)
            for row, last in _steps(len(part), len(block), is_own):
                left_out = row if is_own else 0
                equal = comparer.equal_slots(part.part(row, last), block.part(left_out, len(block)), threads)
                yield from _cut(equal, first + row, begin + left_out, least_equal, is_own)


def nearest_pairs(
    queries: SketchSource,
    targets: SketchSource | None,
    count: int,
    comparer: Comparer,
    least_equal: int,
    threads: int,
) -> Iterator[ComparedPairs]:
    """Each query with the targets that have the most equal slots with it, nearest first; parameters as `every_pair`."""
    others = queries if targets is None else targets
    wanted = min(count + (targets is None), len(others))
    for first, end in _blocks(queries, max(1, 4 * PAIRS_AT_ONCE // max(wanted, 1))):
        part, nearest = queries.part(first, end), None
        for begin, limit in _blocks(others):
            near, equal = comparer.nearest(part, others.part(begin, limit), wanted, threads)
            here: Nearest = np.where(near == NO_TARGET, near, near + np.int32(begin)), equal
            nearest = here if nearest is None else nearest_of_both(nearest, here)
        assert nearest is not None, "a source has samples"
        numbers = np.arange(first, end, dtype=np.int32)
        target, equal = without_self(nearest, numbers) if targets is None else nearest
        kept = (target != NO_TARGET) & (equal >= least_equal)
        query = np.broadcast_to(numbers[:, None], target.shape)
        for at in range(0, len(numbers), rows := max(1, PAIRS_AT_ONCE // max(target.shape[1], 1))):
            some = slice(at, at + rows)
            yield ComparedPairs(query[some][kept[some]], target[some][kept[some]], equal[some][kept[some]])


def _blocks(source: SketchSource, most: int | None = None) -> Iterator[tuple[int, int]]:
    """The first sample, and one past the last, of blocks of about equal size."""
    scheme, count = source.scheme, len(source)
    of_sample = scheme.bits * scheme.slots // WORD_BITS * 8
    size = min(SKETCH_BYTES // of_sample, most or count)
    blocks = -(-count // size) if count else 0
    for number in range(blocks):
        yield number * count // blocks, (number + 1) * count // blocks


def _steps(rows: int, columns: int, is_own: bool) -> Iterator[tuple[int, int]]:
    """The first row, and one past the last, of matrices of at most `MATRIX_PAIRS`."""
    most = max(1, MATRIX_PAIRS // max(columns, 1))
    size = min(most, max(WORD_BITS, -(-rows // _STEPS))) if is_own else most
    for row in range(0, rows, size):
        yield row, min(row + size, rows)


def _cut(
    equal: NDArray[np.uint16], first_query: int, first_target: int, least_equal: int, is_own: bool
) -> Iterator[ComparedPairs]:
    """The pairs of a matrix of equal slots; of a matrix of one's own samples those above the diagonal."""
    rows, columns = equal.shape
    size = max(1, PAIRS_AT_ONCE // max(columns, 1))
    for row in range(0, rows, size):
        part = equal[row : row + size]
        kept = part >= least_equal
        if is_own:
            kept &= np.arange(columns) > np.arange(row, row + len(part))[:, None]
        query, target = np.nonzero(kept)
        yield ComparedPairs(
            (query + (first_query + row)).astype(np.int32), (target + first_target).astype(np.int32), part[kept]
        )
