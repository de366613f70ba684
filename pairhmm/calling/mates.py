"""Joins the reads of a molecule: copies become one profile, and so do mates that overlap (docs/model.md).

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.sam import FIRST, REVERSE, SECOND, mates_of
from pairhmm.calling.molecules import Apart, MoleculeCounts, MoleculeOptions
from pairhmm.models.batch import Profiles
from pairhmm.native import native
from pairhmm.objects import short_repr
from pairhmm.sequences.arrays import Names, offsets


@dataclass(slots=True)
class CutSlices:
    """What is left of reads that were cut to their regions.

    Attributes
    ----------
    read : int64 (reads,)
        Indices into a `ReadBlock`.
    first, last : int64 (reads,)
        The bases [first, last) of each.
    """

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

    def joined(self, profiles: Profiles) -> Profiles:
        """The profiles of joined reads: the product of the rows in each column, normalised.

        Distinct rows stay distinct rows, unless there are too many of them.

        Parameters
        ----------
        profiles : Profiles
            The cut reads.
        """
        if len(self.reads) == len(self.member):
            return profiles
        columns = len(self.source_offset) - 1
        if profiles.kinds is not None:
            kinds = np.empty(columns, dtype=np.uint16)
            distinct = np.ascontiguousarray(profiles.probabilities).reshape(-1)
            rows = native.join_kinds(self.source_offset, self.source, distinct, profiles.kinds, kinds)
            if len(rows):
                return replace(profiles, probabilities=rows.reshape(-1, 4), kinds=kinds)
        rows = np.empty(4 * columns)
        probabilities = np.ascontiguousarray(profiles.at_bases).reshape(-1)
        native.join_rows(self.source_offset, self.source, probabilities, rows)
        return replace(profiles, probabilities=rows.reshape(-1, 4), kinds=None)


@dataclass(slots=True)
class Joiner:
    """Joins cut reads.

    Attributes
    ----------
    options : MoleculeOptions
    counts : MoleculeCounts
        Those who use what was joined count it here.
    """

    options: MoleculeOptions
    counts: MoleculeCounts = field(default_factory=MoleculeCounts)

    def join(self, held: ReadBlock, cut: CutSlices, regions: Sequence[int]) -> JoinedReads:
        """Join the cut reads of some regions. Reads of different regions stay apart.

        Parameters
        ----------
        held : ReadBlock
        cut : CutSlices
            Region after region.
        regions : sequence of int
            The number of reads of each region.
        """
        fragment, family = _molecules(held, cut.read, regions)
        member_offset, member, offset, source_offset, source, ends, apart = native.join_reads(
            held.native,
            cut.read,
            cut.first,
            cut.last,
            offsets(cut.last - cut.first),
            fragment,
            family,
            _ends(held, cut.read),
            np.lexsort((family, fragment)),
            self.options.join_mates,
        )
        reads_of = np.repeat(np.arange(len(ends)), np.diff(member_offset))
        copies = _copies(reads_of, family[member]) if held.molecules is not None else np.empty(0, dtype=np.int64)
        return JoinedReads(
            member_offset=member_offset,
            member=member,
            offset=offset,
            source_offset=source_offset,
            source=source,
            # A power of two has one bit, which is one end.
            are_mates=(ends & (ends - 1)) != 0,
            fragment=fragment[member[member_offset[:-1]]],
            copies=copies,
            apart=apart,
        )


def _molecules(
    held: ReadBlock, reads: NDArray[np.int64], regions: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The fragment and the family of each cut read (int64 each): the number of the first read of the same one.

    Reads of one molecule are a fragment, and those of them on one strand a family. Where the molecule is not known, the
    name and the sample make a fragment, and each read is a family of its own.
    """
    fragment, family = np.arange(len(reads)), np.arange(len(reads))
    names, samples, molecules = list(held.names.at(reads)), held.sample[reads].tolist(), held.molecules
    is_reverse = ((held.flag[reads] & REVERSE) != 0).tolist()
    edges = offsets(list(regions)).tolist()
    for begin, end in pairwise(edges):
        fragments: dict[tuple[int, str, bool], int] = {}
        families: dict[tuple[int, bool], int] = {}
        for at, read in enumerate(reads[begin:end].tolist(), begin):
            molecule = molecules[read] if molecules is not None else ""
            number = fragments.setdefault((samples[at], molecule or names[at], bool(molecule)), at)
            fragment[at] = number
            if molecule:
                family[at] = families.setdefault((number, is_reverse[at]), at)
    return fragment, family


def _ends(held: ReadBlock, reads: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The end of its molecule that each read is from (uint8): its strand, or the mate's number without a molecule."""
    flags = held.flag[reads]
    ends = mates_of(flags)
    if held.molecules is not None:
        is_known = np.array([bool(held.molecules[read]) for read in reads.tolist()], dtype=bool)
        ends = np.where(is_known, (flags & REVERSE) != 0, ends)
    return ends.astype(np.uint8, copy=False)


def _copies(profile: NDArray[np.int64], family: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sizes (int64) of all sets of two reads or more that have the same profile and the same family."""
    order = np.lexsort((family, profile))
    differs = (np.diff(profile[order]) != 0) | (np.diff(family[order]) != 0)
    counts = np.diff(np.concatenate([[0], np.flatnonzero(differs) + 1, [len(order)]]))
    return counts[counts > 1]


@dataclass(slots=True)
class ScoredReads:
    """What a region's evidence says of the reads, or of the profiles that they became.

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


def single_reads(held: ReadBlock, reads: NDArray[np.int64]) -> ScoredReads:
    """Reads that were scored one by one."""
    return ScoredReads(
        names=held.names.at(reads),
        sample=held.sample[reads],
        flag=held.flag[reads],
        mapq=held.mapq[reads],
        start=held.start[reads],
        end=held.end[reads],
        length=_lengths(held, reads),
        ends=np.ones(len(reads), dtype=np.int64),
        first=reads,
    )


def joined_reads(held: ReadBlock, reads: NDArray[np.int64], joined: JoinedReads) -> ScoredReads:
    """The profiles of joined reads.

    A profile has the first of its reads' names in alphabetical order, so that the two ends of a family share it. Its
    flags and its mapping quality are those of its first read, without the number of the mate where mates were joined.
    Its length is that of the
    longest read or its own, whichever is more.
    """
    edges = joined.member_offset
    members = reads[joined.member]
    begin = edges[:-1]
    names = list(held.names.at(members))
    flags = held.flag[members[begin]]
    return ScoredReads(
        names=Names.of([min(names[one:two]) for one, two in pairwise(edges.tolist())]),
        sample=held.sample[members[begin]],
        flag=np.where(joined.are_mates, flags & ~np.uint16(FIRST | SECOND), flags),
        mapq=held.mapq[members[begin]],
        start=_of_each(np.minimum, held.start[members], begin),
        end=_of_each(np.maximum, held.end[members], begin),
        length=np.maximum(np.diff(joined.offset), _of_each(np.maximum, _lengths(held, members), begin)),
        ends=1 + joined.are_mates,
        first=members[begin],
        reads=joined.reads,
        fragment=joined.fragment,
    )


def _of_each(function: np.ufunc, values: NDArray[np.int64], begin: NDArray[np.int64]) -> NDArray[np.int64]:
    result: NDArray[np.int64] = function.reduceat(values, begin) if len(begin) else values
    return result


def _lengths(held: ReadBlock, reads: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[reads]: the bases of each read before it was cut."""
    return held.base_offset[reads + 1] - held.base_offset[reads]
