"""Joins the reads of a molecule: copies become one profile, and so do mates that overlap (docs/model.md).

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.sam import FIRST, SECOND
from pairhmm.calling.molecules import Apart, MoleculeCounts, MoleculeOptions
from pairhmm.native import native
from pairhmm.objects import short_repr
from pairhmm.sequences.arrays import Names, offsets


@dataclass(slots=True)
class CutSlices:
    """Slices of reads that were cut to their regions: bases [first, last) of `read`, an index into a `ReadBlock`."""

    read: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    __repr__ = short_repr


@dataclass(slots=True)
class JoinedReads:
    """Profiles, each of one cut read or of several, in the order of their first reads.

    Attributes
    ----------
    member_offset : int64 (profiles + 1,)
    member : int64 (reads,)
        The cut reads of each profile.
    offset : int64 (profiles + 1,)
        Where the columns of each profile begin.
    source_offset : int64 (columns + 1,)
    source : int64
        The cut bases that stand in each column.
    are_mates : bool (profiles,)
        Whether a profile has reads of both ends of its molecule.
    fragment : int64 (profiles,)
        A number that the profiles of one molecule in a region share.
    copies : int64 (families,)
        The numbers of reads that were joined as copies of each other, 2 or more each.
    apart : tuple of int
        Reads that stayed apart (`MoleculeCounts.add`).
    """

    member_offset: NDArray[np.int64]
    member: NDArray[np.int64]
    offset: NDArray[np.int64]
    source_offset: NDArray[np.int64]
    source: NDArray[np.int64]
    are_mates: NDArray[np.bool_]
    fragment: NDArray[np.int64]
    copies: NDArray[np.int64]
    apart: Apart

    __repr__ = short_repr

    @property
    def reads(self) -> NDArray[np.int64]:
        """int64[profiles]: the number of reads of each profile."""
        return np.diff(self.member_offset)


@dataclass(slots=True)
class Joiner:
    """Joins cut reads. Its users count in `counts` what was joined."""

    options: MoleculeOptions
    counts: MoleculeCounts = field(default_factory=MoleculeCounts)

    def join(self, block: ReadBlock, cut: CutSlices, regions: Sequence[int]) -> JoinedReads:
        """Join the cut reads of regions with so many reads each. Reads of different regions stay apart."""
        names, molecules = block.names.at(cut.read), block.molecules
        member_offset, member, offset, source_offset, source, ends, fragment, copies, apart = native.join_reads(
            *(block.native, cut.read, cut.first, cut.last, offsets(list(regions)), names.text, names.end),
            *(block.sample[cut.read], block.flag[cut.read]),
            None if molecules is None else [molecules[read] for read in cut.read.tolist()],
            self.options.join_mates,
        )
        return JoinedReads(
            member_offset=member_offset,
            member=member,
            offset=offset,
            source_offset=source_offset,
            source=source,
            # A power of two has one bit, which is one end.
            are_mates=(ends & (ends - 1)) != 0,
            fragment=fragment,
            copies=copies,
            apart=apart,
        )


@dataclass(slots=True)
class ScoredReads:
    """The reads of a scored region, or the profiles that they became.

    The attributes are those of `pairhmm.calling.scored_region.Evidence`; `ends` is the number of ends of its
    molecule that a profile has: 1, or 2 where mates were joined. `first` is the first read of each among those that
    were cut.
    """

    names: Names
    sample: NDArray[np.int32]
    flag: NDArray[np.uint16]
    mapq: NDArray[np.uint8]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    length: NDArray[np.int64]
    ends: NDArray[np.int64]
    first: NDArray[np.int64]
    reads: NDArray[np.int64] | None = None
    fragment: NDArray[np.int64] | None = None

    __repr__ = short_repr


def single_reads(block: ReadBlock, reads: NDArray[np.int64]) -> ScoredReads:
    """Reads that were scored one by one."""
    return ScoredReads(
        names=block.names.at(reads),
        sample=block.sample[reads],
        flag=block.flag[reads],
        mapq=block.mapq[reads],
        start=block.start[reads],
        end=block.end[reads],
        length=_lengths(block, reads),
        ends=np.ones(len(reads), dtype=np.int64),
        first=reads,
    )


def joined_reads(block: ReadBlock, reads: NDArray[np.int64], joined: JoinedReads) -> ScoredReads:
    """The profiles of joined reads.

    A profile has the first of its reads' names in alphabetical order, so that the two ends of a family share it. Its
    flags and its mapping quality are those of its first read, without the number of the mate where mates were joined.
    Its length is that of the
    longest read or its own, whichever is more.
    """
    edges = joined.member_offset
    members = reads[joined.member]
    begin = edges[:-1]
    names = list(block.names.at(members))
    flags = block.flag[members[begin]]
    return ScoredReads(
        names=Names.of([min(names[one:two]) for one, two in pairwise(edges.tolist())]),
        sample=block.sample[members[begin]],
        flag=np.where(joined.are_mates, flags & ~np.uint16(FIRST | SECOND), flags),
        mapq=block.mapq[members[begin]],
        start=_of_each(np.minimum, block.start[members], begin),
        end=_of_each(np.maximum, block.end[members], begin),
        length=np.maximum(np.diff(joined.offset), _of_each(np.maximum, _lengths(block, members), begin)),
        ends=1 + joined.are_mates,
        first=members[begin],
        reads=joined.reads,
        fragment=joined.fragment,
    )


def _of_each(function: np.ufunc, values: NDArray[np.int64], begin: NDArray[np.int64]) -> NDArray[np.int64]:
    result: NDArray[np.int64] = function.reduceat(values, begin) if len(begin) else values
    return result


def _lengths(block: ReadBlock, reads: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[reads]: the bases of each read before it was cut."""
    return block.base_offset[reads + 1] - block.base_offset[reads]
