"""Regions of candidates, whose haplotypes are scored together. Joining is native (cpu/calling/regions.cpp).

The *extent* of a candidate is the reference bases that it replaces. For an insertion or deletion it is also every base
to which it could be shifted, since a read that ends inside a repeat cannot place it. Candidates whose extents lie close
together share reads, and are scored as combinations.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pairhmm.options import Within, check_fields
from pairhmm.variants.variant import Variant

REPEAT_REACH = 100
"""The most bases by which a flank is longer, to end outside repeats."""

LARGEST_WINDOW = 1000
"""The most bases of a window. Candidates are sought so far beyond requested regions, so that windows are whole."""


@dataclass(frozen=True, slots=True)
class RegionOptions:
    """How candidates are joined, in bases.

    Attributes
    ----------
    join_distance : int
        Candidates whose extents are at most this far apart share a region. So do those that reads spell together.
    max_span : int
        The most bases that a region's candidates span, unless one candidate alone is longer. Those under one that is
        longer by twice `join_distance` at most are of its region.
    max_alleles : int
        The most alternative alleles in a region.
    flank : int
        Reads are cut to the candidates' extent and this many bases on either side, or more where that would end in a
        tandem repeat of the reference, by up to `REPEAT_REACH`. They are cut shorter before a run of 20 N, in which a
        read would fit whole, and where the next region's candidates are nearer: no haplotype of this region has
        those, so that the reads would fit none.
    min_flank : int
        The least bases on either side, where regions touch.
    pad : int
        Haplotypes are longer than the cut reads by this many bases on either side, so that a read with an insertion or
        deletion still fits.
    window : int
        Of a mixture: the regions are windows of so many bases, counted from the beginning of each contig, in place of
        what `join_distance`, `max_span` and `max_alleles` make. A window is longer where the extent of one of its
        candidates passes its end. 0: none.
    """

    join_distance: Annotated[int, Within(0)] = 25
    max_span: Annotated[int, Within(1)] = 300
    max_alleles: Annotated[int, Within(1)] = 64
    flank: Annotated[int, Within(0)] = 55
    min_flank: Annotated[int, Within(0)] = 10
    pad: Annotated[int, Within(0)] = 15
    window: Annotated[int, Within(0, LARGEST_WINDOW)] = 0

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, slots=True)
class Region:
    """An interval of a contig with the candidates in it, which are scored together.

    Attributes
    ----------
    core_start, core_end : int
        The extent of the candidates. Reads that overlap it are scored.
    start, end : int
        The interval that reads are cut to.
    haplotype_start, haplotype_end : int
        The interval that haplotypes span.
    variants : tuple of Variant
        The candidates, in order of position; empty where haplotypes were given.
    extents : tuple of (int, int)
        The extent of each candidate.
    """

    chrom: str
    core_start: int
    core_end: int
    start: int
    end: int
    haplotype_start: int
    haplotype_end: int
    variants: tuple[Variant, ...] = ()
    extents: tuple[tuple[int, int], ...] = ()
