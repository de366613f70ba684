"""The oracle: the recurrence in float64 NumPy, readable and slow. All other backends must agree with it.

For a read of m positions with row parameters E, mm .. dd (docs/model.md) and a haplotype h_1..h_n:

    M[i,j] = E_i[h_j] (mm_i M[i-1,j-1] + im_i I[i-1,j-1] + dm_i D[i-1,j-1])
    I[i,j] = mi_i M[i-1,j] + ii_i I[i-1,j]
    D[i,j] = md_i M[i,j-1] + dd_i D[i,j-1]
    score  = log10 sum_{j>=1} (M[m,j] + I[m,j])

Behind an undetermined deletion of letters s to e (`pairhmm.models.partially_determined`), once column e is added to
the score, each state of the column is the larger one of itself and of the same state in column s - 1.

Cells of one anti-diagonal do not depend on each other, so one NumPy operation computes a diagonal of several pairs.
Every cell has an exponent beside its three values, so nothing underflows, whatever the length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.base import Backend, Status
from pairhmm.models import partially_determined
from pairhmm.models.batch import FLOAT64, PairBatch, Scores, Start
from pairhmm.models.partially_determined import Deletion
from pairhmm.models.profile import rows_of

TRANSITIONS = 7
"""Count of the transitions of a row: mm im dm mi ii md dd."""

_NOTHING = -(2**40)
"""Exponent of a cell whose values are zero."""

_POWERS = np.concatenate([np.zeros(1), np.ldexp(1.0, np.arange(-1000, 1))])
"""Zero, then 2^-1000 to 2^0: the table of `_two_to`."""

_NORMALISE_EVERY = 8
"""Diagonals between two normalisations: few enough that no cell's values leave the range of float64."""

_BLOCK_ELEMENTS = 1 << 13
"""The most read bases that are computed together: enough to hide NumPy's overhead, few enough for the cache."""


class ReferenceBackend(Backend):
    """Forward in float64 for every pair."""

    name = "reference"
    label = "reference"
    # A run that is stopped waits for a chunk of each thread.
    chunk_cells = first_chunk_cells = 10_000_000

    def forward(self, batch: PairBatch, skip_read: NDArray[np.bool_], threads: int) -> Scores:
        """NaN for every pair. This backend has no fast arithmetic, so `forward_pairs` scores all of them."""
        return Scores.none(batch.pairs)

    def forward_pairs(self, batch: PairBatch, pairs: NDArray[np.int64], threads: int) -> Scores:
        pair_of = _pairs_of(batch)
        reads, haplotypes = batch.pair_indices(pairs)
        lengths = np.diff(batch.read_offset)[reads]
        widths = np.diff(batch.haplotype_offset)[haplotypes]
        order = np.lexsort((widths, lengths))
        scores = np.empty(len(pairs))
        while len(order):
            # Lengths ascend, so the last pair of a block is its longest.
            fits = np.flatnonzero(np.arange(1, len(order) + 1) * (lengths[order] + 1) <= _BLOCK_ELEMENTS)
            count = int(fits[-1]) + 1 if len(fits) else 1
            block, order = order[:count], order[count:]
            scores[block] = _score_block(
                [pair_of(r, h) for r, h in zip(reads[block], haplotypes[block], strict=True)], batch.start
            )
        return Scores(scores, np.full(len(scores), FLOAT64, dtype=np.uint8))


class _Pair(NamedTuple):
    # float64[m, k + 7]: emissions beside k kinds of letters, then the transitions mm im dm mi ii md dd
    rows: NDArray[np.float64]
    letters: NDArray[np.integer]  # [n] the kind of each letter of the haplotype
    deletions: Sequence[Deletion] = ()


def _pairs_of(batch: PairBatch) -> Callable[[int, int], _Pair]:
    """Makes the pair of a read and a haplotype of a batch."""
    rows = rows_of(batch) if batch.flags is None else None

    def pair_of(read: int, haplotype: int) -> _Pair:
        bases = slice(*batch.read_offset[read : read + 2].tolist())
        letters = slice(*batch.haplotype_offset[haplotype : haplotype + 2].tolist())
        if rows is not None:
            return _Pair(rows[bases], batch.haplotypes[letters])
        return _undetermined_pair(batch, bases, letters)

    return pair_of


def _undetermined_pair(batch: PairBatch, bases: slice, letters: slice) -> _Pair:
    assert batch.qualities is not None and batch.flags is not None
    flags = batch.flags[letters]
    kinds, kind = np.unique(batch.haplotypes[letters] * np.uint16(256) + flags, return_inverse=True)
    of_kinds = np.divmod(kinds, np.uint16(256))
    rows = partially_determined.rows(batch.qualities.sliced(bases), *(each.astype(np.uint8) for each in of_kinds))
    return _Pair(rows, kind, partially_determined.deletions(flags))


def _score_block(pairs: list[_Pair], start: Start) -> NDArray[np.float64]:
    """Scores of some pairs. Rows and letters past a pair's end are unused padding."""
    count = len(pairs)
    m, n = np.array([len(each.rows) for each in pairs]), np.array([len(each.letters) for each in pairs])
    longest, widest = int(m.max()), int(n.max())
    kinds = max(each.rows.shape[1] for each in pairs) - TRANSITIONS
    row = np.zeros((kinds + TRANSITIONS, count, longest + 1))
    letter = np.zeros((count, widest + 1), dtype=np.intp)
    branches = _Branches(count, longest, widest) if any(each.deletions for each in pairs) else None
    for p, each in enumerate(pairs):
        row[: each.rows.shape[1] - TRANSITIONS, p, 1 : m[p] + 1] = each.rows[:, :-TRANSITIONS].T
        row[kinds:, p, 1 : m[p] + 1] = each.rows[:, -TRANSITIONS:].T
        letter[p, 1 : n[p] + 1] = each.letters
        for deletion in each.deletions:
            assert branches is not None
            branches.add(p, deletion)
    pair = np.arange(count)

    # Three diagonals [pairs, i] of states M I D and their common exponent; `before` is two diagonals back.
    before, last = _Diagonal(count, longest), _Diagonal(count, longest)
    last.values[0, :, 0], last.values[2, :, 0], last.exponent[:, 0] = start.match, start.deletion / n, 0
    total, total_exponent = np.zeros(count), np.full(count, _NOTHING)
    for d in range(1, longest + widest + 1):
        now = _Diagonal(count, longest)
        # The cell of row 0 and column d. Past the haplotype's end it is never read.
        now.values[2, :, 0], now.exponent[:, 0] = 1 / n, 0
        low, high = max(1, d - widest), min(longest, d - 1)
        if low <= high:
            i = np.arange(low, high + 1)
            emission = row[letter[:, d - i], pair[:, None], i]
            _fill(now, before, last, row[kinds:, :, low : high + 1], emission, low, high)
            # Two diagonals in a row, because a cell reads from both before it; a branch is read far behind its cells.
            if branches is not None or d % _NORMALISE_EVERY < 2:
                now.normalise()
            ends = np.flatnonzero((m >= low) & (m <= high) & (d - m <= n))
            if len(ends):
                sums = now.values[0, ends, m[ends]] + now.values[1, ends, m[ends]]
                _accumulate(total, total_exponent, pair[ends], sums, now.exponent[ends, m[ends]])
            if branches is not None:
                branches.take(d, last)
                branches.join(d, now)
        before, last = last, now
    with np.errstate(divide="ignore"):
        return np.where(total > 0, np.log10(total) + np.where(total > 0, total_exponent, 0) * np.log10(2.0), -np.inf)


class _Diagonal:
    """States [3, pairs, m + 1] of one anti-diagonal, times 2^exponent [pairs, m + 1]."""

    def __init__(self, count: int, longest: int) -> None:
        self.values = np.zeros((3, count, longest + 1))
        self.exponent = np.full((count, longest + 1), _NOTHING)

    def normalise(self) -> None:
        """Bring the largest state of each cell to 1/2..1."""
        largest = self.values.max(axis=0)
        _, shift = np.frexp(largest)
        self.values = np.ldexp(self.values, -shift)
        self.exponent = np.where(largest == 0, _NOTHING, self.exponent + shift)


class _Branches:
    """Where undetermined deletions are in some haplotypes, and the states before the one that a row is beside."""

    def __init__(self, count: int, longest: int, widest: int) -> None:
        self.states = _Diagonal(count, longest)
        # [pairs, columns]: whether a deletion begins or ends with the column, and the last row that it counts in
        self.begins = np.zeros((count, longest + widest + 1), dtype=bool)
        self.last_row = np.zeros((count, longest + widest + 1), dtype=np.int64)

    def add(self, pair: int, deletion: Deletion) -> None:
        """A deletion of a pair's haplotype."""
        self.begins[pair, deletion.first + 1] = True
        self.last_row[pair, deletion.end] = 1 if deletion.first_row_only else np.iinfo(np.int64).max

    def take(self, d: int, last: _Diagonal) -> None:
        """Keep the cells (i, d - i - 1) before which a deletion begins."""
        pair, row = self._cells(self.begins, d)
        self.states.values[:, pair, row] = last.values[:, pair, row]
        self.states.exponent[pair, row] = last.exponent[pair, row]

    def join(self, d: int, now: _Diagonal) -> None:
        """Bring the branch to the cells (i, d - i) with which a deletion ends."""
        pair, row = self._cells(self.last_row, d)
        is_in = self.last_row[pair, d - row] >= row
        pair, row = pair[is_in], row[is_in]
        branch, own = self.states.exponent[pair, row], now.exponent[pair, row]
        exponent = np.maximum(branch, own)
        now.values[:, pair, row] = np.maximum(
            self.states.values[:, pair, row] * _two_to(branch - exponent),
            now.values[:, pair, row] * _two_to(own - exponent),
        )
        now.exponent[pair, row] = exponent

    def _cells(self, of_column: NDArray[np.generic], d: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Pairs and rows from 1 on of the cells of a diagonal where a column has a value."""
        first, end = max(0, d - self.states.exponent.shape[1] + 1), d
        pair, at = np.nonzero(of_column[:, first:end])
        return pair, d - first - at


def _fill(
    now: _Diagonal,
    before: _Diagonal,
    last: _Diagonal,
    transitions: NDArray[np.float64],
    emission: NDArray[np.float64],
    low: int,
    high: int,
) -> None:
    """Compute the cells (i, d - i), for i in low..high, of the diagonal `now` from the two diagonals before it."""
    here, above = slice(low, high + 1), slice(low - 1, high)
    exponent = np.maximum(np.maximum(before.exponent[:, above], last.exponent[:, above]), last.exponent[:, here])
    corner = _two_to(before.exponent[:, above] - exponent)
    up = _two_to(last.exponent[:, above] - exponent)
    left = _two_to(last.exponent[:, here] - exponent)
    mm, im, dm, mi, ii, md, dd = transitions
    m, i, d = before.values[:, :, above]
    now.values[0, :, here] = emission * (mm * m + im * i + dm * d) * corner
    m, i, _ = last.values[:, :, above]
    now.values[1, :, here] = (mi * m + ii * i) * up
    m, _, d = last.values[:, :, here]
    now.values[2, :, here] = (md * m + dd * d) * left
    now.exponent[:, here] = exponent


def _two_to(exponent: NDArray[np.int64]) -> NDArray[np.float64]:
    """2^exponent for exponents of at most 0; zero below 2^-1000."""
    powers: NDArray[np.float64] = _POWERS[np.maximum(exponent, -1001) + 1001]
    return powers


def _accumulate(
    total: NDArray[np.float64],
    total_exponent: NDArray[np.int64],
    pair: NDArray[np.intp],
    values: NDArray[np.float64],
    exponent: NDArray[np.int64],
) -> None:
    """Add values * 2^exponent to the running sums of `pair`."""
    highest = np.maximum(total_exponent[pair], exponent)
    total[pair] = total[pair] * _two_to(total_exponent[pair] - highest) + values * _two_to(exponent - highest)
    total_exponent[pair] = highest


def status() -> Status:
    return Status(True, detail="float64 NumPy, the oracle")


def make() -> ReferenceBackend:
    return ReferenceBackend()
