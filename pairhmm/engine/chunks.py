"""Cuts a batch into chunks that fit a device. A run can be interrupted between two chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from pairhmm.models.batch import PairBatch


def cut(batch: PairBatch, sizes: Iterable[int], devices: int = 1) -> Iterator[PairBatch]:
    """Cut a batch into chunks (views), in the batch's order.

    Groups stay whole, because kernels score a group's reads together. Only a group larger than the first size is cut
    between its reads. Chunks of one size have about equally many cells. Their number is a multiple of the devices', so
    that these end at about the same time. `sizes` are the most cells of the first chunk, of the second, and so on;
    endless, and never smaller than the one before. A chunk of one read may have more.
    """
    turns = iter(sizes)
    cells = next(turns)
    if batch.cells <= cells:
        yield batch
        return
    borders, before = _borders(batch, cells)
    first, last = 0, len(borders) - 1
    size = count = 0  # count: chunks of this size that are left
    while first < last:
        left = int(before[last] - before[first])
        if cells != size or left > count * cells:
            size, count = cells, -(-left // (cells * devices)) * devices
        end = last
        if count > 1 and left > 0:
            even = -(-left // count)
            end = int(np.searchsorted(before, before[first] + even))
            if before[end] - before[first] > cells:
                end = max(end - 1, first + 1)
        yield batch.take_reads(int(borders[first]), int(borders[end]))
        first, cells, count = end, next(turns), count - 1


def _borders(batch: PairBatch, cells: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the batch may be cut, as indices of reads (the end of the batch included), and the cells before each."""
    borders, before = [batch.group_read], [batch.group_cells]
    letters = batch.group_letters
    for group in np.flatnonzero(np.diff(batch.group_cells) > cells).tolist():
        first, end = batch.group_read[group : group + 2]
        borders.append(np.arange(first, end))
        bases = batch.read_offset[first:end] - batch.read_offset[first]
        before.append(batch.group_cells[group] + bases * letters[group])
    reads, first = np.unique(np.concatenate(borders), return_index=True)
    return reads, np.concatenate(before)[first]
