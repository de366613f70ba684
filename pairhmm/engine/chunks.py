"""Where a batch is cut, so that each part fits a device and a run can be interrupted between parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from pairhmm.models.batch import PairBatch


def cut(batch: PairBatch, sizes: Iterable[int]) -> Iterator[PairBatch]:
    """Parts that make up the batch in its order, each of at most so many cells as its turn in `sizes`, or of one read.

    `sizes` does not descend, and has no end. Parts of one size are about equal. Groups stay whole unless one alone is
    too large for the first size: kernels work on a group's reads together.
    """
    turns = iter(sizes)
    cells = next(turns)
    if batch.cells <= cells:
        yield batch
        return
    borders, before = _borders(batch, cells)
    first, last = 0, len(borders) - 1
    while (left := int(before[last] - before[first])) > cells:
        even = -(-left // -(-left // cells))
        end = int(np.searchsorted(before, before[first] + even))
        if before[end] - before[first] > cells:
            end = max(end - 1, first + 1)
        yield batch.take_reads(int(borders[first]), int(borders[end]))
        first, cells = end, next(turns)
    if first < last:
        yield batch.take_reads(int(borders[first]), batch.reads)


def _borders(batch: PairBatch, cells: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The reads before which the batch may be cut, its end among them, and the cells before each of these."""
    borders, before = [batch.group_read], [batch.group_cells]
    letters = batch.group_letters
    for group in np.flatnonzero(np.diff(batch.group_cells) > cells).tolist():
        first, end = batch.group_read[group : group + 2]
        borders.append(np.arange(first, end))
        bases = batch.read_offset[first:end] - batch.read_offset[first]
        before.append(batch.group_cells[group] + bases * letters[group])
    reads, found = np.unique(np.concatenate(borders), return_index=True)
    return reads, np.concatenate(before)[found]
