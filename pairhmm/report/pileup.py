"""Reads as bases: what each read has at the columns of a region that are shown. Positions are 0-based."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.sam import ALIGNS, CONSUMES_QUERY, CONSUMES_REFERENCE, DELETION, INSERTION, SOFT_CLIP, ReadKey
from pairhmm.sequences.letters import decode, encode

AROUND = 22
"""Columns on either side of a difference, as `report/page/alignment.js` shows them."""
MOST_COLUMNS = 300
"""The most columns of a region. Of more, those nearest to its sites are kept."""

NOTHING, DELETED, SKIPPED, CLIPPED = 0, 7, 8, 16
"""Cells: no base; a base and its letter are 1 + its code (A C G T N), and CLIPPED more where it is soft-clipped."""
QUALITY_STEP = 5
"""Phred, to which the qualities of bases that agree with the reference are rounded down."""

_SKIP = 3
_MOST_CODE = 4


@dataclass(slots=True)
class Pileup:
    """The bases of reads at columns of the reference.

    Attributes
    ----------
    columns : int64 (columns,)
        Positions, ascending.
    cells, quals : dict of ReadKey to uint8 (columns,)
        What each read has at each column, and the Phred quality of that base; 0 without a base.
    insertions : dict of ReadKey to list of (int, str, int)
        Of each read the column before an insertion, the bases, and the lowest quality of them.
    """

    columns: NDArray[np.int64]
    cells: dict[ReadKey, NDArray[np.uint8]] = field(default_factory=dict)
    quals: dict[ReadKey, NDArray[np.uint8]] = field(default_factory=dict)
    insertions: dict[ReadKey, list[tuple[int, str, int]]] = field(default_factory=dict)

    def add(self, block: ReadBlock, reads: NDArray[np.int64], keys: Sequence[ReadKey]) -> None:
        """Add some reads of a block, which are called by their keys."""
        if not len(reads) or not len(self.columns):
            return
        cells = np.zeros((len(reads), len(self.columns)), dtype=np.uint8)
        quals = np.zeros_like(cells)
        steps = _Steps.of(block, reads)
        column_of = self._column_of
        for kind, mark in ((ALIGNS[steps.operation], 0), (steps.operation == SOFT_CLIP, CLIPPED)):
            row, position, base = steps.bases(kind)
            column = column_of(position)
            seen = column >= 0
            codes = np.minimum(block.bases[base[seen]], _MOST_CODE)
            cells[row[seen], column[seen]] = codes + (1 + mark)
            quals[row[seen], column[seen]] = block.quals[base[seen]]
        for operation, cell in ((DELETION, DELETED), (_SKIP, SKIPPED)):
            row, position, _ = steps.bases(steps.operation == operation)
            column = column_of(position)
            cells[row[column >= 0], column[column >= 0]] = cell
        for number, key in enumerate(keys):
            self.cells[key], self.quals[key] = cells[number], quals[number]
        for step in np.flatnonzero(steps.operation == INSERTION).tolist():
            (column,) = column_of(steps.position[step : step + 1] - 1).tolist()
            if column >= 0:
                first = int(steps.base[step])
                own = slice(first, first + int(steps.length[step]))
                inserted = column, decode(block.bases[own]), int(block.quals[own].min())
                self.insertions.setdefault(keys[int(steps.row[step])], []).append(inserted)

    def _column_of(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The column of each position; -1 for those that are not shown."""
        places = np.minimum(np.searchsorted(self.columns, positions), len(self.columns) - 1)
        return np.where(self.columns[places] == positions, places, -1)


@dataclass(frozen=True, slots=True)
class _Steps:
    """The CIGAR operations of reads, end to end: where each begins in the reference and among the block's bases."""

    row: NDArray[np.int64]
    operation: NDArray[np.int64]
    length: NDArray[np.int64]
    position: NDArray[np.int64]
    base: NDArray[np.int64]

    @classmethod
    def of(cls, block: ReadBlock, reads: NDArray[np.int64]) -> _Steps:
        counts = block.cigar_offset[reads + 1] - block.cigar_offset[reads]
        row = np.repeat(np.arange(len(reads)), counts)
        packed = block.cigar[_ranges(block.cigar_offset[reads], counts)].astype(np.int64)
        operation, length = packed & 15, packed >> 4
        first = np.repeat(np.cumsum(counts) - counts, counts)
        position = block.start[reads][row] + _sums_before(length * CONSUMES_REFERENCE[operation], first)
        base = block.base_offset[reads][row] + _sums_before(length * CONSUMES_QUERY[operation], first)
        # A clip before the first aligned base lies to the left of it.
        leads = (operation == SOFT_CLIP) & (position == block.start[reads][row])
        return cls(row, operation, length, position - np.where(leads, length, 0), base)

    def bases(self, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The read, the position and the index in the block of every base of the chosen operations."""
        length = self.length[chosen]
        return (
            np.repeat(self.row[chosen], length),
            _ranges(self.position[chosen], length),
            _ranges(self.base[chosen], length),
        )


def _ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The whole numbers of ranges, end to end."""
    ends = np.cumsum(lengths)
    numbers: NDArray[np.int64] = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)
    return numbers


def _sums_before(values: NDArray[np.int64], first: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sum of the values from the index `first` to before each one."""
    before: NDArray[np.int64] = np.cumsum(values) - values
    sums: NDArray[np.int64] = before - before[first]
    return sums


def shown_columns(
    start: int, end: int, differences: Iterable[tuple[int, str, str]], sites: Iterable[int]
) -> NDArray[np.int64]:
    """The positions of [start, end) near a difference of a haplotype or near a site.

    Parameters
    ----------
    start, end : int
        What the haplotypes span.
    differences : iterable of (int, str, str)
        Position, reference bases and haplotype bases.
    """
    places = list(sites)
    near = np.zeros(max(0, end - start), dtype=bool)
    for first, last in [*((at, at + len(ref)) for at, ref, _ in differences), *((at, at + 1) for at in places)]:
        near[max(0, first - AROUND - start) : max(0, last + AROUND - start)] = True
    columns = start + np.flatnonzero(near)
    if len(columns) > MOST_COLUMNS:
        centres = np.array(places or [start], dtype=np.int64)
        distance = np.abs(columns[:, None] - centres[None, :]).min(axis=1)
        columns = np.sort(columns[np.argsort(distance, kind="stable")[:MOST_COLUMNS]])
    return columns


def packed_rows(pileup: Pileup, keys: Sequence[ReadKey], letters: str) -> tuple[bytes, list[list[object]]]:
    """The cells and then the qualities of reads, each column by column, and their insertions.

    Reads without an alignment have empty rows. Bytes of one column follow each other, because they are alike. The
    qualities of bases that agree with the reference are rounded down to a multiple of `QUALITY_STEP`, which halves what
    they take.

    Parameters
    ----------
    keys : sequence of ReadKey
        The reads.
    letters : str
        The reference at the pileup's columns.
    """
    empty = np.zeros(len(pileup.columns), dtype=np.uint8)
    cells, quals = (
        np.array([rows.get(key, empty) for key in keys], dtype=np.uint8).reshape(len(keys), len(empty)).T
        for rows in (pileup.cells, pileup.quals)
    )
    agrees = cells == encode(letters)[:, None] + 1
    quals = np.where(agrees, quals - quals % QUALITY_STEP, quals)
    insertions: list[list[object]] = [
        [number, column, bases, quality]
        for number, key in enumerate(keys)
        for column, bases, quality in pileup.insertions.get(key, ())
    ]
    return cells.tobytes() + quals.tobytes(), insertions
