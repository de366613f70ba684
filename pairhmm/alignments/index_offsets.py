"""Checks that the parts of a BAI or CSI agree. Reads are found through both parts, the bins and the table of offsets.

The reads of a file are sorted, so that contigs, bins and offsets rise together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.bam_index import BamIndex, DamagedIndexError, bins


def require_rising(index: BamIndex) -> None:
    """Require that chunks, and the table of offsets, are in the order of the file.

    Offsets of zero are allowed: htsjdk writes them where no read has begun. Others repeat an offset in windows without
    reads.

    Raises
    ------
    DamagedIndexError
    """
    order = in_file_order(index)
    contig = index.bin_contig[index.chunk_bin[order]]
    if np.any(np.diff(contig) < 0):
        raise DamagedIndexError("reads of a contig lie among those of another")
    begins, ends = _windows_of_chunks(index, order)
    if np.any(begins >= ends):
        raise DamagedIndexError("its bins are in another order than the reads")
    if not len(order):
        return
    window, offset = index.all_starts()
    known = offset > 0
    window, offset = window[known], offset[known]
    of = window >> index.window_bits
    first, last = extents(index)
    has_reads = last[of] > 0
    if np.any(has_reads & ((offset < first[of]) | (offset >= last[of]))):
        raise DamagedIndexError("an offset lies outside the reads of its contig")
    if np.any((offset[1:] < offset[:-1]) & (of[1:] == of[:-1])):
        raise DamagedIndexError("its offsets do not rise")


def in_file_order(index: BamIndex) -> NDArray[np.int64]:
    """The chunks as their reads lie in the file."""
    order: NDArray[np.int64] = np.lexsort((index.bin_contig[index.chunk_bin], index.begin)).astype(np.int64)
    return order


def extents(index: BamIndex) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Of each contig: where its first chunk begins, and its last one ends, which is 0 for a contig without chunks."""
    contig = index.bin_contig[index.chunk_bin]
    first, last = np.full(index.contigs, np.iinfo(np.uint64).max, dtype=np.uint64), np.zeros(index.contigs, np.uint64)
    np.minimum.at(first, contig, index.begin)
    np.maximum.at(last, contig, index.end)
    return first, last


def passed_over(index: BamIndex) -> NDArray[np.int64]:
    """The chunks whose first read lies before the offset at which the reads of its window begin."""
    order = in_file_order(index)
    window, offset = index.all_starts()
    known = offset > 0
    window, offset = window[known], offset[known]
    if not len(window) or not len(order):
        return order[:0]
    begins, _ = _windows_of_chunks(index, order)
    at = np.searchsorted(window, begins, side="right") - 1
    is_told = (at >= 0) & (window[at] >> index.window_bits == begins >> index.window_bits)
    late: NDArray[np.int64] = order[is_told & (offset[at] > index.begin[order])]
    return late


def gaps(index: BamIndex) -> NDArray[np.int64]:
    """The chunks before which bytes of the file belong to no chunk."""
    order = in_file_order(index)
    return order[1:][index.begin[order][1:] > np.maximum.accumulate(index.end[order])[:-1]]


def end_before(index: BamIndex, chunk: int) -> int:
    """Where the last chunk ends that begins before a chunk."""
    return int(index.end[index.begin < index.begin[chunk]].max())


def _windows_of_chunks(index: BamIndex, order: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each chunk the first window that its first read may begin in, and the window behind the last one."""
    start, end = index.spans_of_bins()
    # Reads that lie before their contig's start have a bin, too: the number before that of the smallest bins.
    start = np.where(index.bin_number == bins(index.depth) - 1, 0, start)
    bin_of = index.chunk_bin[order]
    contig = index.bin_contig[bin_of]
    # The first read of a chunk begins no earlier than that of the chunk before.
    begins = np.maximum.accumulate(index.window(contig, start[bin_of]))
    ends = (contig << index.window_bits) + (end[bin_of] >> index.shift)
    return begins, ends
