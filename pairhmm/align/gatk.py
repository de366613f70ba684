"""The alignment of GATK: the matrix, the ends and the traceback of its SmithWatermanJavaAligner.

Source: broadinstitute/gatk, utils/smithwaterman/SmithWatermanJavaAligner.java, and SWOverhangStrategy.java of
broadinstitute/gatk-native-bindings. As there, rows of the matrix are letters of the target ("reference"), and columns
those of the query ("alternate"). It differs in these things alone:

* GATK looks for an exact match first. The matrix gives the same alignment, since a match scores more than 0.
* With "ignore", GATK counts a query's end that lies before the target into the CIGAR's first operation, even if that is
  a gap, and the CIGAR does not fit the query then. Here it is always M.
* GATK refuses empty sequences. Here all of the other one is the overhang.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.align.scoring import Scoring
from pairhmm.alignments.sam import CONSUMES_REFERENCE, DELETION, INSERTION, MATCH, SOFT_CLIP

LEAST_SCORE = -100_000_000
"""MATRIX_MIN_CUTOFF: no cell has a lower score. It is out of reach where the longer sequence's length, times the worst
score of a column, is above it: every cell is reached by mismatches and one gap at most."""

_NO_GAP = -(2**30)
"""The score of a gap that has not begun."""


class Matrix(NamedTuple):
    """Scores, and where each came from."""

    scores: NDArray[np.int64]  # [target letters + 1, query letters + 1]
    # 0 for a column of two letters, k for a deletion of k letters, -k for an insertion of k letters.
    steps: NDArray[np.int64]


class End(NamedTuple):
    """The cell in which the best alignment ends: letters of the target and of the query that come before it."""

    target: int
    query: int


def score(query: NDArray[np.uint8], target: NDArray[np.uint8], scoring: Scoring) -> int:
    """The score of GATK's alignment. Overhangs cost what their operations do: nothing, unless they are indels."""
    return align(query, target, scoring)[0]


def align(
    query: NDArray[np.uint8], target: NDArray[np.uint8], scoring: Scoring
) -> tuple[int, int, int, list[tuple[int, int]]]:
    """GATK's alignment: score, start and end in the target, and operations with their lengths, in order.

    With the overhang "ignore", the start may be below 0, and the end behind the target's.
    """
    if len(query) == 0 or len(target) == 0:
        return _of_empty(len(query), len(target), scoring)
    matrix = _matrix(query, target, scoring)
    end = _end(matrix.scores, scoring.overhang)
    start, operations = _traceback(matrix.steps, end, scoring.overhang)
    covered = sum(length for kind, length in operations if CONSUMES_REFERENCE[kind])
    return int(matrix.scores[end.target, end.query]), start, start + covered, operations


def _of_empty(query: int, target: int, scoring: Scoring) -> tuple[int, int, int, list[tuple[int, int]]]:
    if scoring.overhang == "softclip":
        return 0, 0, 0, [(SOFT_CLIP, query)]
    if scoring.overhang == "ignore":
        return 0, 0, query, [(MATCH, query)]
    deleted = target if scoring.overhang == "indel" else 0
    return _gap(query, scoring) + _gap(deleted, scoring), 0, deleted, [(INSERTION, query), (DELETION, deleted)]


def _gap(length: int, scoring: Scoring) -> int:
    return scoring.gap_open + (length - 1) * scoring.gap_extend if length else 0


def _matrix(query: NDArray[np.uint8], target: NDArray[np.uint8], scoring: Scoring) -> Matrix:
    opened, extended = scoring.gap_open, scoring.gap_extend
    scores = np.zeros((len(target) + 1, len(query) + 1), dtype=np.int64)
    steps = np.zeros_like(scores)
    if scoring.overhang in ("indel", "leading-indel"):
        scores[0, 1:] = opened + np.arange(len(query)) * extended
        scores[1:, 0] = opened + np.arange(len(target)) * extended
    down = np.full(len(query), _NO_GAP)
    down_letters = np.zeros(len(query), dtype=np.int64)
    for i, letter in enumerate(target, start=1):
        diagonal = scores[i - 1, :-1] + np.where(query == letter, scoring.match, scoring.mismatch)
        down, down_letters = _further_down(scores[i - 1, 1:] + opened, down + extended, down_letters)
        right, right_letters = _to_the_right(scores[i, 0], np.maximum(diagonal, down), opened, extended)
        is_diagonal = (diagonal >= down) & (diagonal >= right)
        scores[i, 1:] = np.maximum(LEAST_SCORE, np.maximum(np.maximum(diagonal, right), down))
        steps[i, 1:] = np.where(is_diagonal, 0, np.where(right >= down, -right_letters, down_letters))
    return Matrix(scores, steps)


def _further_down(
    opening: NDArray[np.int64], extending: NDArray[np.int64], letters: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The best deletion that ends in each cell of a row, and its letters. Of equal ones, the older."""
    return np.maximum(opening, extending), np.where(opening > extending, 1, letters + 1)


def _to_the_right(
    first: int, others: NDArray[np.int64], opened: int, extended: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The best insertion that ends in each cell of a row, and its letters. Of equal ones, the older.

    `others` are the best scores without an insertion of the cells behind the first, which is before the query. An
    insertion never opens better behind another one.
    """
    places = np.arange(len(others))
    cells = np.concatenate(([first], np.maximum(LEAST_SCORE, others[:-1])))
    # As if each insertion had opened in the first cell. A later one wins if it is then better than all before it.
    compared = cells - places * extended
    best = np.maximum.accumulate(compared)
    is_new = np.concatenate(([True], compared[1:] > best[:-1]))
    opened_at = np.maximum.accumulate(np.where(is_new, places, 0))
    return best + opened + places * extended, places + 1 - opened_at


def _end(scores: NDArray[np.int64], overhang: str) -> End:
    """The cell of the best score in the last column, or in the last row if that is free, too.

    Of equal ones in the column, the last; of those in the row, the first of those nearest to the diagonal, if nearer to
    it than that of the column.
    """
    target, query = (size - 1 for size in scores.shape)
    if overhang == "indel":
        return End(target, query)
    column = scores[1:, query]
    end = End(target - int(column[::-1].argmax()), query)
    if overhang == "leading-indel":
        return end
    best = int(column.max())
    for j, score in enumerate(scores[target, 1:].tolist(), start=1):
        if score > best or (score == best and abs(target - j) < abs(end.target - end.query)):
            best, end = score, End(target, j)
    return end


def _traceback(steps: NDArray[np.int64], end: End, overhang: str) -> tuple[int, list[tuple[int, int]]]:
    """The start of the alignment in the target, and its operations with their lengths, overhangs included."""
    i, j = end
    trailing = steps.shape[1] - 1 - j
    operations = [(SOFT_CLIP if overhang == "softclip" else MATCH, trailing)]
    while i > 0 and j > 0:
        step = int(steps[i, j])
        if step == 0:
            i, j = i - 1, j - 1
            operations.append((MATCH, 1))
        elif step > 0:
            i -= step
            operations.append((DELETION, step))
        else:
            j += step
            operations.append((INSERTION, -step))
    if overhang == "softclip":
        operations.append((SOFT_CLIP, j))
    elif overhang == "ignore":
        operations.append((MATCH, j))
        i -= j
    else:
        operations += [(DELETION, i), (INSERTION, j)]
        i = 0
    return i, operations[::-1]
