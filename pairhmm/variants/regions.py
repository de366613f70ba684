"""Joins candidates into regions, whose haplotypes are scored together.

The *extent* of a candidate is the reference bases that it replaces. For an insertion or deletion it is also every base
to which it could be shifted, since a read that ends inside a repeat cannot place it. Candidates whose extents lie close
together share reads, and are scored as combinations.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pairhmm.options import Within, check_fields
from pairhmm.variants.variant import MAX_SHIFT, FetchBases, Variant, variant_extent


@dataclass(frozen=True, slots=True)
class RegionOptions:
    """How candidates are joined, in bases.

    Attributes
    ----------
    join_distance : int
        Candidates whose extents are at most this far apart share a region. So do those that reads spell together.
    max_span : int
        The most bases that a region's candidates span, unless one candidate alone is longer.
    max_alleles : int
        The most alternative alleles in a region.
    flank : int
        Reads are cut to the candidates' extent and this many bases on either side. They are cut shorter where the next
        region's candidates are nearer: no haplotype of this region has those, so that the reads would fit none.
    min_flank : int
        The least bases on either side, where regions touch.
    pad : int
        Haplotypes are longer than the cut reads by this many bases on either side, so that a read with an insertion or
        deletion still fits.
    """

    join_distance: Annotated[int, Within(0)] = 25
    max_span: Annotated[int, Within(1)] = 300
    max_alleles: Annotated[int, Within(1)] = 64
    flank: Annotated[int, Within(0)] = 55
    min_flank: Annotated[int, Within(0)] = 10
    pad: Annotated[int, Within(0)] = 15

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


class RegionBuilder:
    """Joins a stream of candidates, in order of position, into regions.

    Which candidates share a region depends on the candidates alone, not on when they are pushed.

    `fetch`: ``fetch(chrom, start, end)`` gives reference bases. `contigs`: length of each contig.
    """

    def __init__(self, fetch: FetchBases, contigs: dict[str, int], options: RegionOptions | None = None) -> None:
        self._fetch = fetch
        self._contigs = contigs
        self.options = options or RegionOptions()
        self._variants: list[Variant] = []
        self._extents: list[tuple[int, int]] = []
        self._core_start = self._core_end = self._alleles = self._joined_until = 0
        self._previous: Region | None = None

    def push(self, variant: Variant, extent: tuple[int, int] | None = None) -> Iterator[Region]:
        """Take the next candidate, whose extent may be known. Yields the open region where it does not join it."""
        if extent is None:
            extent = variant_extent(variant, self._fetch)
        if self._variants and not self._joins(variant, extent):
            yield self._close(extent[0] if variant.chrom == self._variants[0].chrom else None)
        is_first = not self._variants
        self._core_start = extent[0] if is_first else min(self._core_start, extent[0])
        self._core_end = extent[1] if is_first else max(self._core_end, extent[1])
        self._joined_until = max(self._joined_until, variant.joined_until)
        self._variants.append(variant)
        self._extents.append(extent)
        self._alleles += len(variant.alts)

    def advance(self, chrom: str, frontier: int) -> Iterator[Region]:
        """Yield the open region once no candidate at or after `frontier` can join it or limit its flank.

        An indel's extent begins at most `MAX_SHIFT` bases before its record.
        """
        if self._variants:
            reach = (
                max(self._core_end, self._joined_until)
                + max(self.options.join_distance, self.options.flank)
                + MAX_SHIFT
            )
            if self._variants[0].chrom != chrom or frontier > reach:
                yield from self.finish()

    def finish(self) -> Iterator[Region]:
        """Yield the open region, if any."""
        if self._variants:
            yield self._close(None)

    @property
    def open_start(self) -> int | None:
        """Start of the open region's core; None where no region is open."""
        return self._core_start if self._extents else None

    def _joins(self, variant: Variant, extent: tuple[int, int]) -> bool:
        options = self.options
        start, end = self._core_start, self._core_end
        return (
            variant.chrom == self._variants[0].chrom
            and (extent[0] - end <= options.join_distance or variant.pos < self._joined_until)
            and max(end, extent[1]) - min(start, extent[0]) <= options.max_span
            and self._alleles + len(variant.alts) <= options.max_alleles
        )

    def _close(self, next_start: int | None) -> Region:
        """Close the open region. The candidates of the next one on its contig begin at `next_start`."""
        options = self.options
        chrom = self._variants[0].chrom
        core_start, core_end = self._core_start, self._core_end
        length = self._contigs[chrom]
        first, last, previous = 0, length, self._previous
        if previous is not None and previous.chrom == chrom:
            # Regions stay in order of start, even where an indel can be shifted to before the last region.
            first = max(min(previous.core_end, core_start - options.min_flank), previous.start)
        if next_start is not None:
            last = max(next_start, core_end + options.min_flank)
        variants, extents = tuple(self._variants), tuple(self._extents)
        self._previous = padded_region(
            chrom, core_start, core_end, length, options, variants=variants, extents=extents, cut_to=(first, last)
        )
        self._variants, self._extents, self._alleles, self._joined_until = [], [], 0, 0
        return self._previous


def padded_region(
    chrom: str,
    core_start: int,
    core_end: int,
    length: int,
    options: RegionOptions,
    variants: tuple[Variant, ...] = (),
    extents: tuple[tuple[int, int], ...] = (),
    cut_to: tuple[int, int] | None = None,
) -> Region:
    """A region around a core, clamped to a contig of `length` bases. Reads are cut to `cut_to`, too."""
    start, end = max(0, core_start - options.flank), min(length, core_end + options.flank)
    return Region(
        chrom=chrom,
        core_start=core_start,
        core_end=core_end,
        start=start if cut_to is None else max(start, cut_to[0]),
        end=end if cut_to is None else min(end, cut_to[1]),
        haplotype_start=max(0, start - options.pad),
        haplotype_end=min(length, end + options.pad),
        variants=variants,
        extents=extents,
    )
