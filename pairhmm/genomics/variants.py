"""A candidate variant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["asked", "context", "nuisance"]
"""Why a candidate takes part. "asked": its genotype is output. "context": it lies outside the regions that were asked
for. "nuisance": reads show it beside listed candidates, but the list does not have it."""


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
        The record's ID; empty without one.
    record_index : int
        Number of the record in its file, from 0.
    role : {"asked", "context", "nuisance"}
    """

    chrom: str
    pos: int
    ref: str
    alts: tuple[str, ...]
    id: str = ""
    record_index: int = 0
    role: Role = "asked"

    @property
    def end(self) -> int:
        """Past the last base of `ref`, 0-based."""
        return self.pos + len(self.ref)
