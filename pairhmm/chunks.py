"""Where a batch is cut, so that each part fits a device and a run can be interrupted between parts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pairhmm.batch import PairBatch


def cut(batch: PairBatch, cells: int) -> Iterator[PairBatch]:
    """Parts of at most `cells` cells, or of one read, that are about equal and make up the batch in its order.

    Groups stay whole unless one alone is too large: kernels work on a group's reads together.
    """
    if batch.cells <= cells:
        yield batch
        return
    borders = _borders(batch, cells)
    before = batch.read_cells[borders]
    first, last = 0, len(borders) - 1
    while (left := int(before[last] - before[first])) > cells:
        even = -(-left // -(-left // cells))
        end = int(np.searchsorted(before, before[first] + even))
        if before[end] - before[first] > cells:
            end = max(end - 1, first + 1)
        yield batch.take_reads(int(borders[first]), int(borders[end]))
        first = end
    if first < last:
        yield batch.take_reads(int(borders[first]), batch.reads)


def _borders(batch: PairBatch, cells: int) -> NDArray[np.int64]:
    """The reads before which the batch may be cut, its end among them."""
    too_large = np.flatnonzero(np.diff(batch.read_cells[batch.group_read]) > cells)
    inside = [np.arange(batch.group_read[group], batch.group_read[group + 1]) for group in too_large]
    return np.unique(np.concatenate([batch.group_read, *inside]))
