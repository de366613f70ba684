"""Molecules whose reads become one profile: options for mates and UMI families, and the counts of a run."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.molecules import Families
from pairhmm.options import check_fields
from pairhmm.plurals import counted

log = logging.getLogger(__name__)

Apart = tuple[int, int, int, int]
"""Reads that stay apart: copies whose indels differ, copies that do not overlap, and mates for the same reasons."""


@dataclass(frozen=True, slots=True)
class MoleculeOptions:
    """Which reads of a molecule are merged into one profile. Both options need the profile model.

    Attributes
    ----------
    join_mates : bool
        Whether mates that overlap become one profile.
    families : {"none", "MI", "position"}
        Which reads are copies of one molecule and become one profile: those with the same tag MI, or those whose
        molecule begins and ends at the same positions on the same strand.
    """

    join_mates: bool = False
    families: Families = "none"

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def are_on(self) -> bool:
        """Whether any reads are joined."""
        return self.join_mates or self.families != "none"

    def __str__(self) -> str:
        parts = ["mates joined"] if self.join_mates else []
        parts += [f"families by {self.families}"] if self.families != "none" else []
        return ", ".join(parts)


@dataclass(slots=True)
class MoleculeCounts:
    """Counts of merged reads. Reads, pairs and families count once for each region.

    Attributes
    ----------
    profiles, fragments : int
        All profiles, and those in which mates were joined.
    families, copies, largest : int
        Families of two reads or more, their reads, and the reads of the largest one.
    differing_copies, distant_copies : int
        Reads that stay apart from others of their family since indels differ, or since they do not overlap.
    differing_mates, distant_mates : int
        Mates that stay apart for the same reasons.
    """

    profiles: int = 0
    fragments: int = 0
    families: int = 0
    copies: int = 0
    largest: int = 0
    differing_copies: int = 0
    distant_copies: int = 0
    differing_mates: int = 0
    distant_mates: int = 0

    def add(self, are_mates: NDArray[np.bool_], copies: NDArray[np.int64], apart: Apart = (0, 0, 0, 0)) -> None:
        """Count profiles: whether mates were joined in each, the reads of each family (2 or more), those apart."""
        self.profiles += len(are_mates)
        self.fragments += int(are_mates.sum())
        self.families += len(copies)
        self.copies += int(copies.sum())
        self.largest = max(self.largest, int(copies.max(initial=0)))
        self.differing_copies += apart[0]
        self.distant_copies += apart[1]
        self.differing_mates += apart[2]
        self.distant_mates += apart[3]

    def add_counts(self, other: MoleculeCounts) -> None:
        """Add the counts of another part of a run."""
        self.profiles += other.profiles
        self.fragments += other.fragments
        self.families += other.families
        self.copies += other.copies
        self.largest = max(self.largest, other.largest)
        self.differing_copies += other.differing_copies
        self.distant_copies += other.distant_copies
        self.differing_mates += other.differing_mates
        self.distant_mates += other.distant_mates

    def announce(self, options: MoleculeOptions) -> None:
        """Write one line on what was joined; a warning where nothing was."""
        parts = []
        if options.families != "none":
            size = f" of 2 to {self.largest} reads ({self.copies} reads)" if self.families else " of two reads or more"
            parts.append(f"{self.families or 'no'} families{size}{_apart(self.differing_copies, self.distant_copies)}")
        if options.join_mates:
            joined = f"{self.fragments} pairs of mates joined" if self.fragments else "no mates overlap"
            parts.append(f"{joined}{_apart(self.differing_mates, self.distant_mates)}")
        is_idle = (options.families != "none" and not self.families) or (options.join_mates and not self.fragments)
        if options.families != "none" and not self.families:
            parts.append("reads marked as duplicates are used with --exclude-flags 0xB04")
        log.log(
            logging.WARNING if is_idle else logging.INFO, "%s: %s", counted(self.profiles, "profile"), "; ".join(parts)
        )


def _apart(differing: int, distant: int) -> str:
    parts = [f"{differing} whose indels differ"] if differing else []
    parts += [f"{distant} that do not overlap"] if distant else []
    return f" (apart: {', '.join(parts)})" if parts else ""
