"""Candidates joined into regions: the stretches of a contig whose haplotypes are scored together.

A candidate touches its *extent*: the reference bases it replaces and, for an insertion or deletion, every base it could
be shifted to, since a read that ends inside a repeat cannot place it. Candidates whose extents lie close together share
reads, and are scored as combinations.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated

from pairhmm.genomics.variants import Variant
from pairhmm.interface.options import Within, check_fields

# How far an insertion or deletion is followed through a repeat. Reads of a few hundred bases cannot see further.
MAX_SHIFT = 150

FetchBases = Callable[[str, int, int], str]


@dataclass(frozen=True, slots=True)
class RegionOptions:
    """How candidates are joined, in bases.

    Attributes
    ----------
    join_distance : int
        Candidates whose extents are at most this far apart share a region.
    max_span : int
        A region's candidates span at most this, unless one candidate alone is longer.
    max_alleles : int
        A region holds at most this many alternative alleles.
    flank : int
        Reads are cut to the candidates' extent and this much on either side, or to the next region's candidates: a
        read that carries a variant which no haplotype of the region has would fit none of them.
    min_flank : int
        The least on either side, where regions touch.
    pad : int
        Haplotypes reach this much further than the cut reads, so that a read's insertion or deletion still fits.
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
    """A stretch of a contig with the candidates in it.

    Attributes
    ----------
    chrom : str
    core_start, core_end : int
        The extent of the candidates. Reads that overlap it are scored.
    start, end : int
        What reads are cut to.
    haplotype_start, haplotype_end : int
        What haplotypes span.
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


def trim_allele(ref: str, alt: str) -> tuple[int, str, str]:
    """Drop what two alleles share, the end first, then the start.

    Returns
    -------
    offset : int
        Bases dropped from the start.
    ref, alt : str
        What differs; one of them is empty for a plain insertion or deletion.

    Examples
    --------
    >>> trim_allele("CAT", "C")
    (1, 'AT', '')
    >>> trim_allele("CA", "TA")
    (0, 'C', 'T')
    """
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
    """Move a trimmed insertion or deletion left as far as it spells the same, its anchor base staying in `reference`.

    Parameters
    ----------
    reference : str
    start : int
        Where `old` stands in `reference`.
    old, new : str
        One of them empty; anything else stays where it is.

    Returns
    -------
    start : int
    old, new : str
        Rotated.
    """
    while start > 1 and not (old and new) and reference[start - 1] == (old or new)[-1]:
        start -= 1
        old = old and old[-1] + old[:-1]
        new = new and new[-1] + new[:-1]
    return start, old, new


def _shift_range(start: int, ref: str, alt: str, bases: str, offset: int) -> tuple[int, int]:
    """How far a trimmed insertion or deletion moves left and right in `bases`, which begin at `offset`."""
    unit = ref or alt
    size = len(unit)
    left = 0
    position = start - offset - 1
    while position >= 0 and left < MAX_SHIFT and bases[position] == unit[-1 - left % size]:
        left += 1
        position -= 1
    right = 0
    position = start + len(ref) - offset
    while position < len(bases) and right < MAX_SHIFT and bases[position] == unit[right % size]:
        right += 1
        position += 1
    return left, right


def variant_extent(variant: Variant, fetch: FetchBases) -> tuple[int, int]:
    """The reference bases a candidate touches, with all places to which its insertions or deletions can be shifted.

    Parameters
    ----------
    variant : Variant
    fetch : callable
        ``fetch(chrom, start, end)`` gives reference bases, clamped at the ends of the contig.

    Returns
    -------
    start, end : int
        At least the record's own reference bases.
    """
    start, end = variant.pos, variant.pos + len(variant.ref)
    if len(variant.ref) == 1 and all(len(alt) == 1 for alt in variant.alts):
        return start, end
    offset = max(0, variant.pos - MAX_SHIFT)
    bases = fetch(variant.chrom, offset, end + MAX_SHIFT)
    for alt in variant.alts:
        head, ref_part, alt_part = trim_allele(variant.ref, alt)
        if bool(ref_part) == bool(alt_part):
            continue
        first = variant.pos + head
        left, right = _shift_range(first, ref_part, alt_part, bases, offset)
        start = min(start, first - left)
        # One base more: a read that ends inside the repeat does not tell its length.
        end = max(end, first + len(ref_part) + right + 1)
    return start, end


class RegionBuilder:
    """Joins a stream of candidates, in order of position, into regions.

    Which candidates share a region depends on the candidates alone, never on when they were pushed.

    Parameters
    ----------
    fetch : callable
        ``fetch(chrom, start, end)`` gives reference bases.
    contigs : dict of str to int
        Length of each contig.
    options : RegionOptions
    """

    def __init__(self, fetch: FetchBases, contigs: dict[str, int], options: RegionOptions | None = None) -> None:
        self._fetch = fetch
        self._contigs = contigs
        self.options = options or RegionOptions()
        self._variants: list[Variant] = []
        self._extents: list[tuple[int, int]] = []
        self._alleles = 0
        self._previous: Region | None = None

    def push(self, variant: Variant) -> Iterator[Region]:
        """Take the next candidate; yield the region before it where it does not join."""
        extent = variant_extent(variant, self._fetch)
        if self._variants and not self._joins(variant, extent):
            yield self._close(extent[0] if variant.chrom == self._variants[0].chrom else None)
        self._variants.append(variant)
        self._extents.append(extent)
        self._alleles += len(variant.alts)

    def advance(self, chrom: str, frontier: int) -> Iterator[Region]:
        """Yield the open region where no candidate at or after `frontier` can join or bound it any more.

        An indel's extent begins at most `MAX_SHIFT` bases before its record.
        """
        if self._variants:
            reach = self._core_end + max(self.options.join_distance, self.options.flank) + MAX_SHIFT
            if self._variants[0].chrom != chrom or frontier > reach:
                yield from self.finish()

    def finish(self) -> Iterator[Region]:
        """Yield the open region, if there is one."""
        if self._variants:
            yield self._close(None)

    @property
    def open_start(self) -> int | None:
        """Where the open region's reads begin to matter; None where no region is open."""
        return self._core_start if self._extents else None

    @property
    def _core_start(self) -> int:
        return min(start for start, _ in self._extents)

    @property
    def _core_end(self) -> int:
        return max(end for _, end in self._extents)

    def _joins(self, variant: Variant, extent: tuple[int, int]) -> bool:
        options = self.options
        start, end = self._core_start, self._core_end
        return (
            variant.chrom == self._variants[0].chrom
            and extent[0] - end <= options.join_distance
            and max(end, extent[1]) - min(start, extent[0]) <= options.max_span
            and self._alleles + len(variant.alts) <= options.max_alleles
        )

    def _close(self, next_start: int | None) -> Region:
        """The open region, where the candidates of the next one on its contig begin at `next_start`."""
        options = self.options
        chrom = self._variants[0].chrom
        core_start, core_end = self._core_start, self._core_end
        region = padded_region(
            chrom, core_start, core_end, self._contigs[chrom], options, tuple(self._variants), tuple(self._extents)
        )
        start, end = region.start, region.end
        previous = self._previous
        if previous is not None and previous.chrom == chrom:
            # Regions are written in order of start, and stay so where an indel's repeat reaches back over others.
            start = max(start, min(previous.core_end, core_start - options.min_flank), previous.start)
        if next_start is not None:
            end = min(end, max(next_start, core_end + options.min_flank))
        self._previous = replace(region, start=start, end=end)
        self._variants, self._extents, self._alleles = [], [], 0
        return self._previous


def padded_region(
    chrom: str,
    core_start: int,
    core_end: int,
    length: int,
    options: RegionOptions,
    variants: tuple[Variant, ...] = (),
    extents: tuple[tuple[int, int], ...] = (),
) -> Region:
    """A region around a core, clamped to a contig of `length` bases."""
    start, end = max(0, core_start - options.flank), min(length, core_end + options.flank)
    return Region(
        chrom,
        core_start,
        core_end,
        start,
        end,
        max(0, start - options.pad),
        min(length, end + options.pad),
        variants,
        extents,
    )
