"""Pairs of samples and their equal slots, block by block, so that any number of samples takes little memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.sketch.base import Comparer
from pairhmm.map.sketch.nearest import NO_TARGET, Nearest, nearest_of_both, without_self
from pairhmm.map.sketch.sketches import WORD_BITS, Scheme, Sketches

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
    """Pairs of a query and a target.

    Attributes
    ----------
    query, target : ndarray, shape (pairs,), int32
        Samples of the two sources.
    equal : ndarray, shape (pairs,), uint16
        Equal slots.
    """

    query: NDArray[np.int32]
    target: NDArray[np.int32]
    equal: NDArray[np.uint16]


def every_pair(
    queries: SketchSource, targets: SketchSource | None, comparer: Comparer, least_equal: int, threads: int
) -> Iterator[ComparedPairs]:
    """Each query with each target, or each two queries once.

    Sources of more than `SKETCH_BYTES` are compared block with block, and pairs come in the order of blocks.

    Parameters
    ----------
    queries : SketchSource
    targets : SketchSource or None
        None: the queries among themselves.
    comparer : Comparer
    least_equal : int
        Pairs with fewer equal slots are left out.
    threads : int
    """
    others = queries if targets is None else targets
    for first, end in _blocks(queries):
        own = queries.part(first, end)
        for begin, limit in _blocks(others):
            if targets is None and begin < first:
                continue
            is_own = targets is None and begin == first
            block = own if is_own else others.part(begin, limit)
            for row, last in _steps(len(own), len(block), is_own):
                left_out = row if is_own else 0
                equal = comparer.equal_slots(own.part(row, last), block.part(left_out, len(block)), threads)
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
        own, found = queries.part(first, end), None
        for begin, limit in _blocks(others):
            near, equal = comparer.nearest(own, others.part(begin, limit), wanted, threads)
            here: Nearest = np.where(near == NO_TARGET, near, near + np.int32(begin)), equal
            found = here if found is None else nearest_of_both(found, here)
        assert found is not None, "a source has samples"
        numbers = np.arange(first, end, dtype=np.int32)
        target, equal = without_self(found, numbers) if targets is None else found
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
