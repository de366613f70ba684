"""A candidate variant."""

from __future__ import annotations

from dataclasses import dataclass


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
    """

    chrom: str
    pos: int
    ref: str
    alts: tuple[str, ...]
    id: str = ""
    record_index: int = 0

    @property
    def end(self) -> int:
        """Past the last base of `ref`, 0-based."""
        return self.pos + len(self.ref)
