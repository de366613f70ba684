"""Nuisances: variants that reads show near listed candidates, but that are not listed themselves.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.calling.discovery import CandidateFinder
from pairhmm.variants.regions import Region
from pairhmm.variants.variant import MAX_SHIFT, FetchBases, Variant, shift_left, trim_allele, variant_extent

_Change = tuple[int, str, str]
"""An allele's position, the bases that it replaces, and its own, shifted left: equal alleles have equal changes."""


_position = attrgetter("pos")


class Nuisances:
    """Collects the variants that the reads of a contig show, and adds them to regions of listed candidates.

    Parameters
    ----------
    finder : CandidateFinder
    fetch : callable
        ``fetch(chrom, start, end)`` gives reference bases.
    """

    def __init__(self, finder: CandidateFinder, fetch: FetchBases) -> None:
        self._finder, self._fetch = finder, fetch
        # In order of position, as the finder gives them.
        self._shown: list[Variant] = []

    @property
    def settled(self) -> int:
        """The position before which all variants that the reads of the contig show are known."""
        return self._finder.settled

    def scan(self, block: ReadBlock, places: Sequence[tuple[int, int]] | None = None) -> None:
        """Find variants in the next reads: those in some places, or all (`CandidateFinder.scan`)."""
        if self._shown and self._shown[0].chrom != block.chrom:
            self._shown.clear()
        self._shown += self._finder.scan(block, places)

    def finish(self) -> None:
        """Find the last variants: the contig has no more reads."""
        self._shown += self._finder.finish()

    def forget(self, position: int) -> None:
        """Drop the variants before a position, which no later region needs."""
        del self._shown[: bisect_left(self._shown, position, key=_position)]

    def added(self, region: Region) -> Region:
        """The region with the nuisances that lie in it."""
        # An extent begins at its record's position or before it.
        first, last = (bisect_left(self._shown, place, key=_position) for place in (region.start, region.end))
        listed_alleles = {(variant.pos, variant.ref, variant.alts) for variant in region.variants}
        # Most variants that reads show are listed ones. The others alone need an extent.
        unlisted = [
            (one, variant_extent(one, self._fetch))
            for one in self._shown[first:last]
            if one.chrom == region.chrom and (one.pos, one.ref, one.alts) not in listed_alleles
        ]
        inside = [(one, extent) for one, extent in unlisted if region.start < extent[0] and extent[1] < region.end]
        if not inside:
            return region
        listed = {change for variant in region.variants for change in self._changes(variant)}
        found = []
        for one, extent in inside:
            alts = tuple(alt for alt, change in zip(one.alts, self._changes(one), strict=True) if change not in listed)
            if alts:
                found.append((replace(one, alts=alts, role="nuisance"), extent))
        both = sorted(
            [*zip(region.variants, region.extents, strict=True), *found],
            key=lambda pair: (pair[0].pos, pair[0].role == "nuisance"),
        )
        return replace(region, variants=tuple(one for one, _ in both), extents=tuple(extent for _, extent in both))

    def _changes(self, variant: Variant) -> Iterator[_Change]:
        """What each alternative allele changes, insertions and deletions shifted left."""
        for alt in variant.alts:
            head, old, new = trim_allele(variant.ref, alt)
            start = variant.pos + head
            if not (old and new):
                offset = max(0, start - 2 * MAX_SHIFT)
                bases = self._fetch(variant.chrom, offset, start + len(old))
                local, old, new = shift_left(bases, start - offset, old, new)
                start = offset + local
            yield start, old, new
