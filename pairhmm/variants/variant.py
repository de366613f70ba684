"""A variant: a position with its alleles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pairhmm.objects import by_fields

Role = Literal["asked", "context", "nuisance"]
"""Why a candidate is in a region.

"asked": its genotype is written. "context": it lies outside the regions that were asked for. "nuisance": reads show it,
but it is not among the listed candidates.
"""


@dataclass(frozen=True, slots=True)
class Variant:
    """A position with its alleles.

    Attributes
    ----------
    chrom : str
    pos : int
        First base of `ref`, 0-based.
    ref : str
        Upper case.
    alts : tuple of str
        Alternative alleles, upper case.
    id : str
        ID of its record; empty without one.
    record_index : int
        Index of its record in the file, from 0.
    role : {"asked", "context", "nuisance"}
    joined_until : int
        Candidates before this position belong to its region: reads spell them together. 0 for no others.
    """

    chrom: str
    pos: int
    ref: str
    alts: tuple[str, ...]
    id: str = ""
    record_index: int = 0
    role: Role = "asked"
    joined_until: int = 0

    __reduce__ = by_fields

    @property
    def end(self) -> int:
        """The position past the last base of `ref`, 0-based."""
        return self.pos + len(self.ref)
