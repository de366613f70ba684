"""A variant: a position with its alleles, which are trimmed and shifted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Role = Literal["asked", "context", "nuisance"]
"""Why a candidate is in a region.

"asked": its genotype is written. "context": it lies outside the regions that were asked for. "nuisance": reads show it,
but it is not among the listed candidates.
"""

MAX_SHIFT = 150
"""Bases that an insertion or deletion is shifted through a repeat at most. Short reads do not span longer repeats."""

FetchBases = Callable[[str, int, int], str]
"""``fetch(chrom, start, end)`` gives reference bases, clamped to the contig."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A position with its alleles.

    Attributes
    ----------
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
    artefact : int
        Of a mixture, what explains the reads better than these alleles: errors of one strand (1), in late cycles (2),
        or at ends of reads (3). 0 for none.
    """

    chrom: str
    pos: int
    ref: str
    alts: tuple[str, ...]
    id: str = ""
    record_index: int = 0
    role: Role = "asked"
    joined_until: int = 0
    artefact: int = 0

    @property
    def end(self) -> int:
        """The position past the last base of `ref`, 0-based."""
        return self.pos + len(self.ref)


def trim_allele(ref: str, alt: str) -> tuple[int, str, str]:
    """Drop the bases that two alleles share, at the end first, then at the start.

    Returns
    -------
    offset : int
        Bases dropped from the start.
    ref, alt : str
        The bases that differ; one of the two is empty for a plain insertion or deletion.

    Examples
    --------
    >>> trim_allele("CAT", "C")
    (1, 'AT', '')
    >>> trim_allele("CA", "TA")
    (0, 'C', 'T')
    """
    if len(ref) == len(alt) == 1 and ref != alt:
        return 0, ref, alt
    shortest = min(len(ref), len(alt))
    tail = 0
    while tail < shortest - 1 and ref[-1 - tail] == alt[-1 - tail]:
        tail += 1
    if tail:
        ref, alt = ref[:-tail], alt[:-tail]
        shortest -= tail
    head = 0
    while head < shortest and ref[head] == alt[head]:
        head += 1
    return head, ref[head:], alt[head:]


def shift_left(reference: str, start: int, old: str, new: str) -> tuple[int, str, str]:
    """Shift a trimmed insertion or deletion left as far as it spells the same sequence and keeps an anchor base.

    `old`, which begins at `start` in `reference`, or `new` is empty: other changes are not shifted. Returns the new
    start, old and new.
    """
    while start > 1 and not (old and new) and reference[start - 1] == (old or new)[-1]:
        start -= 1
        old = old and old[-1] + old[:-1]
        new = new and new[-1] + new[:-1]
    return start, old, new
