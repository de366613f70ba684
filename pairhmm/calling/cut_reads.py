"""Reads that are cut to regions. All coordinates are 0-based half-open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.objects import short_repr
from pairhmm.sequences.arrays import gather, offsets

if TYPE_CHECKING:
    from pairhmm.calling.mates import JoinedReads


@dataclass(slots=True)
class CutSlices:
    """Slices of reads that were cut to their regions: bases [first, last) of `read`, an index into a `ReadBlock`."""

    read: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    __repr__ = short_repr


@dataclass(slots=True)
class CutReads:
    """Reads that are cut to their regions, region after region, as flat arrays.

    Attributes
    ----------
    offset : int64 (reads + 1,)
        Where each read's bases begin.
    bases, quals : uint8
        Codes of `READ_LETTERS`, and Phred qualities.
    mapq : uint8 (reads,)
    joined : JoinedReads or None
        The profiles that the reads become; None where each read is scored by itself.
    indel_quals : uint8 (2, bases) or None
        Indel qualities, as in `ReadBlock`.
    again : sequence of int (regions,)
        How many reads at the end of each region are there a second time, without their soft clips.
    """

    offset: NDArray[np.int64]
    bases: NDArray[np.uint8]
    quals: NDArray[np.uint8]
    mapq: NDArray[np.uint8]
    joined: JoinedReads | None = None
    indel_quals: NDArray[np.uint8] | None = None
    again: Sequence[int] = ()

    __repr__ = short_repr


def cut_slices(buffered: ReadBlock, reads: NDArray[np.int64], start: int, end: int, slack: int) -> CutSlices:
    """Slices of reads (indices) that are cut to a window [start, end) of the reference. Some are empty.

    A haplotype is shorter than the reference by `slack` bases: that many fewer bases of a soft clip are kept.
    """
    first, last = np.empty(len(reads), dtype=np.int64), np.empty(len(reads), dtype=np.int64)
    buffered.native.cut(reads, start, end, slack, first, last)
    return CutSlices(reads, first, last)


def cut_bases(buffered: ReadBlock, cut: CutSlices) -> CutReads:
    """The bases and qualities of cut reads."""
    starts, offset = buffered.base_offset[cut.read] + cut.first, offsets(cut.last - cut.first)
    return CutReads(
        offset,
        gather(buffered.bases, starts, offset),
        gather(buffered.quals, starts, offset),
        buffered.mapq[cut.read],
        indel_quals=buffered.indel_slices(starts, offset),
    )
