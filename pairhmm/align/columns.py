"""Counts the columns of alignments: equal letters, other letters, insertions and deletions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.align.batch import Alignments, SequencePairs
from pairhmm.alignments.sam import CONSUMES_QUERY, CONSUMES_REFERENCE, DELETION, INSERTION, MATCH
from pairhmm.sequences.arrays import joined

_AT_ONCE = 1 << 22
"""Columns that are looked at together. Each takes some tens of bytes of memory meanwhile."""


@dataclass(frozen=True, slots=True)
class ColumnCounts:
    """The columns of each alignment: int64[pairs] each.

    Attributes
    ----------
    matches, mismatches : ndarray
        Columns of two letters. N matches N.
    inserted, deleted : ndarray
        Letters of the query alone, and of the target alone.
    """

    matches: NDArray[np.int64]
    mismatches: NDArray[np.int64]
    inserted: NDArray[np.int64]
    deleted: NDArray[np.int64]


def count_columns(pairs: SequencePairs, found: Alignments) -> ColumnCounts:
    """The columns of the alignments of pairs, none of which reaches beyond its target."""
    before = np.cumsum(pairs.queries.lengths[pairs.query_index])
    inner = np.searchsorted(before, np.arange(_AT_ONCE, int(before[-1]) if len(before) else 0, _AT_ONCE))
    borders = np.unique([0, *(inner + 1).tolist(), len(pairs)])
    matches = [
        _matches(pairs.part(begin, end), found.part(begin, end))
        for begin, end in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True)
    ]
    equal = joined(matches, np.int64)
    aligned, inserted, deleted = (_letters_of(found, kind) for kind in (MATCH, INSERTION, DELETION))
    return ColumnCounts(equal, aligned - equal, inserted, deleted)


def _letters_of(found: Alignments, kind: int) -> NDArray[np.int64]:
    """The letters of one operation in each alignment."""
    return _sums(np.where(found.cigars & 15 == kind, found.cigars >> 4, 0), found.offsets)


def _sums(values: NDArray[np.generic], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    before = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=before[1:])
    return np.diff(before[offsets])


def _matches(pairs: SequencePairs, found: Alignments) -> NDArray[np.int64]:
    kinds, lengths = found.cigars & 15, (found.cigars >> 4).astype(np.int64)
    owner = np.repeat(np.arange(len(found)), np.diff(found.offsets))
    query = pairs.queries.offsets[pairs.query_index[owner]] + _before(lengths * CONSUMES_QUERY[kinds], found, owner)
    target = pairs.targets.offsets[pairs.target_index[owner]] + found.target_starts[owner]
    target += _before(lengths * CONSUMES_REFERENCE[kinds], found, owner)
    is_match = kinds == MATCH
    sizes = lengths[is_match]
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    places = (np.repeat(start[is_match], sizes) + within for start in (query, target))
    one, other = (codes[place] for codes, place in zip((pairs.queries.codes, pairs.targets.codes), places, strict=True))
    return _sums(one == other, np.concatenate(([0], np.cumsum(_letters_of(found, MATCH)))))


def _before(used: NDArray[np.int64], found: Alignments, owner: NDArray[np.int64]) -> NDArray[np.int64]:
    """The letters that come before each operation in its alignment."""
    before: NDArray[np.int64] = np.cumsum(used) - used
    begins: NDArray[np.int64] = before[found.offsets[owner]]
    return before - begins
