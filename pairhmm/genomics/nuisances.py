"""Nuisances: what reads show beside listed candidates that the list does not have.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from pairhmm.genomics.blocks import ReadBlock
from pairhmm.genomics.discovery import CandidateFinder
from pairhmm.genomics.regions import MAX_SHIFT, FetchBases, Region, shift_left, trim_allele, variant_extent
from pairhmm.genomics.variants import Variant

# The bases an allele replaces and what it puts there, shifted left: equal for alleles that spell the same.
_Change = tuple[int, str, str]


@dataclass(frozen=True, slots=True)
class _Shown:
    """A variant that reads show, and the bases it touches."""

    variant: Variant
    extent: tuple[int, int]


def _position(shown: _Shown) -> int:
    return shown.variant.pos


class Nuisances:
    """Keeps what the reads of a contig show, and puts it into regions of listed candidates.

    Parameters
    ----------
    finder : CandidateFinder
    fetch : callable
        ``fetch(chrom, start, end)`` gives reference bases.
    """

    def __init__(self, finder: CandidateFinder, fetch: FetchBases) -> None:
        self._finder, self._fetch = finder, fetch
        # In order of position, as the finder gives them.
        self._shown: list[_Shown] = []

    def scan(self, block: ReadBlock) -> None:
        """Look at the next reads."""
        if self._shown and self._shown[0].variant.chrom != block.chrom:
            self._shown.clear()
        self._add(self._finder.scan(block))

    def finish(self) -> None:
        """There are no more reads on the contig."""
        self._add(self._finder.finish())

    def forget(self, position: int) -> None:
        """No region to come has candidates before a position."""
        del self._shown[: bisect_left(self._shown, position, key=_position)]

    def added(self, region: Region) -> Region:
        """The region with the nuisances that its reads can show."""
        # An extent begins at its record's position or before it.
        first, last = (bisect_left(self._shown, place, key=_position) for place in (region.start, region.end))
        inside = [
            one
            for one in self._shown[first:last]
            if one.variant.chrom == region.chrom and region.start < one.extent[0] and one.extent[1] < region.end
        ]
        if not inside:
            return region
        listed = {change for variant in region.variants for change in self._changes(variant)}
        found = []
        for one in inside:
            alts = tuple(
                alt
                for alt, change in zip(one.variant.alts, self._changes(one.variant), strict=True)
                if change not in listed
            )
            if alts:
                found.append((replace(one.variant, alts=alts, role="nuisance"), one.extent))
        both = sorted(
            [*zip(region.variants, region.extents, strict=True), *found],
            key=lambda pair: (pair[0].pos, pair[0].role == "nuisance"),
        )
        return replace(region, variants=tuple(one for one, _ in both), extents=tuple(extent for _, extent in both))

    def _add(self, variants: Iterable[Variant]) -> None:
        self._shown += [_Shown(variant, variant_extent(variant, self._fetch)) for variant in variants]

    def _changes(self, variant: Variant) -> Iterator[_Change]:
        """What each alternative allele does, shifted left as far as an insertion or deletion is followed."""
        for alt in variant.alts:
            head, old, new = trim_allele(variant.ref, alt)
            start = variant.pos + head
            if not (old and new):
                offset = max(0, start - 2 * MAX_SHIFT)
                bases = self._fetch(variant.chrom, offset, start + len(old))
                local, old, new = shift_left(bases, start - offset, old, new)
                start = offset + local
            yield start, old, new
