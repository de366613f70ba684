"""The oracle: whole matrices in NumPy, and a traceback in Python. It is slow; all others agree with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pairhmm.align import gatk
from pairhmm.align.base import Aligner, Alignments, SequencePairs
from pairhmm.align.scoring import Scoring
from pairhmm.alignments.sam import DELETION, INSERTION, MATCH, packed_cigar
from pairhmm.sequences.arrays import joined, offsets

Codes: TypeAlias = NDArray[np.uint8]

NEVER = -(2**40)
"""The score of what can't be. 64 bits hold it with all that a pair may add to it."""


class Row(NamedTuple):
    """A row of the matrices: the best score of what comes before a place in the query and each place in the target."""

    # [target letters + 1]: of all alignments, of those that end in a deletion, and of those that end in an insertion.
    best: NDArray[np.int64]
    deletion: NDArray[np.int64]
    insertion: NDArray[np.int64]


class ReferenceAligner(Aligner):
    """The recurrence of Gotoh 1982 row by row; mode "gatk" is in `pairhmm.align.gatk`."""

    label = "reference"

    def scores(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> NDArray[np.int32]:
        score = gatk.score if scoring.mode == "gatk" else _score
        return np.array([score(query, target, scoring) for query, target in _each(pairs)], dtype=np.int32)

    def alignments(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> Alignments:
        align = gatk.align if scoring.mode == "gatk" else _align
        alignments = [align(query, target, scoring) for query, target in _each(pairs)]
        scores, starts, ends = np.array([one[:3] for one in alignments], dtype=np.int32).reshape(-1, 3).T.copy()
        cigars = [packed_cigar(operations) for *_, operations in alignments]
        return Alignments(scores, starts, ends, joined(cigars, np.uint32), offsets([len(one) for one in cigars]))


def _each(pairs: SequencePairs) -> Iterator[tuple[Codes, Codes]]:
    for query, target in zip(pairs.query_index, pairs.target_index, strict=True):
        yield pairs.queries[query], pairs.targets[target]


def _rows(query: Codes, target: Codes, scoring: Scoring) -> Iterator[Row]:
    """The rows of the matrices, from that before the query's first letter to that behind its last."""
    opened, extended = scoring.gap_open, scoring.gap_extend
    places = np.arange(len(target) + 1)
    gaps = np.where(places > 0, opened + (places - 1) * extended, 0)
    never = np.full(len(places), NEVER)
    begins = scoring.mode == "global"
    row = Row(gaps if begins else np.zeros_like(gaps), np.where(places > 0, gaps, NEVER) if begins else never, never)
    yield row
    for letter in query:
        insertion = np.maximum(row.best + opened, row.insertion + extended)
        best = insertion.copy()
        matched = row.best[:-1] + np.where(target == letter, scoring.match, scoring.mismatch)
        np.maximum(best[1:], matched, out=best[1:])
        # A deletion that ends at place j opened at some k < j, and costs as much more as there are places between.
        deletion = never.copy()
        from_any = np.maximum.accumulate(best - places * extended)[:-1]
        deletion[1:] = from_any + opened + places[:-1] * extended
        row = Row(np.maximum(best, deletion), deletion, insertion)
        yield row


def _end(row: Row, scoring: Scoring) -> int:
    """The place in the target where the best alignment ends, after the last row."""
    return len(row.best) - 1 if scoring.mode == "global" else int(row.best.argmax())


def _score(query: Codes, target: Codes, scoring: Scoring) -> int:
    for row in _rows(query, target, scoring):
        last = row
    return int(last.best[_end(last, scoring)])


def _align(query: Codes, target: Codes, scoring: Scoring) -> tuple[int, int, int, list[tuple[int, int]]]:
    """Score, start and end in the target, and operations with their lengths, in order."""
    rows = [*_rows(query, target, scoring)]
    end = _end(rows[-1], scoring)
    start, operations = _traceback(rows, query, target, end, scoring)
    return int(rows[-1].best[end]), start, end, operations


def _traceback(
    rows: list[Row], query: Codes, target: Codes, end: int, scoring: Scoring
) -> tuple[int, list[tuple[int, int]]]:
    """From the end of the best alignment to its start, by the rule for ties of `Alignments`."""
    i, j, inside = len(query), end, MATCH
    operations: list[tuple[int, int]] = []
    while i > 0 or (j > 0 and scoring.mode == "global"):
        row = rows[i]
        if inside == MATCH:
            column = scoring.match if i and j and query[i - 1] == target[j - 1] else scoring.mismatch
            if i and j and row.best[j] == rows[i - 1].best[j - 1] + column:
                i, j = i - 1, j - 1
                operations.append((MATCH, 1))
                continue
            inside = DELETION if row.best[j] == row.deletion[j] else INSERTION
        if inside == DELETION:
            opens = row.deletion[j] == row.best[j - 1] + scoring.gap_open
            j -= 1
        else:
            opens = row.insertion[j] == rows[i - 1].best[j] + scoring.gap_open
            i -= 1
        operations.append((inside, 1))
        inside = MATCH if opens else inside
    return j, operations[::-1]


def make() -> Aligner:
    return ReferenceAligner()
