"""Which reads become one profile: the options, and the counts of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pairhmm.interface.options import check_fields

Families = Literal["none", "MI", "position"]


@dataclass(frozen=True, slots=True)
class MoleculeOptions:
    """Which reads of a molecule become one profile. Both options need the profile model.

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
