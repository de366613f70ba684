"""Haplotypes of a region: the reference with combinations of the candidates' alleles."""

from __future__ import annotations

from dataclasses import dataclass

from pairhmm.objects import short_repr


@dataclass(frozen=True, slots=True)
class Haplotype:
    """One haplotype of a region.

    Attributes
    ----------
    alleles : tuple of int
        The index of its allele at each of the region's candidates. 0 is the reference, also under another candidate's
        deletion. -1 is another one, and -2 one that is not listed (``-v``), where regions are genotyped.
    name : str
        Name of its FASTA record, where haplotypes were given.
    is_nuisance : bool
        Whether every combination of alleles that spells it has a nuisance's allele.
    """

    sequence: str
    alleles: tuple[int, ...]
    name: str = ""
    is_nuisance: bool = False

    __repr__ = short_repr
