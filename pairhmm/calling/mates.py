"""Joins the reads of a molecule: copies become one profile, and so do mates that overlap (docs/model.md).

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.calling.cut_reads import CutSlices
from pairhmm.calling.molecules import Apart, MoleculeCounts, MoleculeOptions
from pairhmm.objects import short_repr
from pairhmm.sequences.arrays import offsets

if TYPE_CHECKING:
    from pairhmm._cpu import ScoredRegion


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

    @classmethod
    def of(cls, made: tuple[Any, ...]) -> JoinedReads:
        """The joined reads that native code made."""
        member_offset, member, offset, source_offset, source, ends, fragment, copies, apart = made
        # A power of two has one bit, which is one end.
        are_mates = (ends & (ends - 1)) != 0
        return cls(member_offset, member, offset, source_offset, source, are_mates, fragment, copies, apart)

    @property
    def reads(self) -> NDArray[np.int64]:
        """int64[profiles]: the number of reads of each profile."""
        return np.diff(self.member_offset)


@dataclass(slots=True)
class Joiner:
    """Joins cut reads. Its users count in `counts` what was joined."""

    options: MoleculeOptions
    counts: MoleculeCounts = field(default_factory=MoleculeCounts)

    def join(self, block: ReadBlock, cut: CutSlices, regions: Sequence[int]) -> tuple[JoinedReads, ScoredRegion]:
        """Join the cut reads of regions with so many reads each. Reads of different regions stay apart.

        The second has what is known of the profiles.
        """
        joined, profiles = block.aligned.join(
            cut.read, cut.first, cut.last, offsets(list(regions)), self.options.join_mates
        )
        return JoinedReads.of(joined), profiles
