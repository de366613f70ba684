"""Sources of regions: candidates that reads show, listed candidates, or one given region.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import tee
from typing import Protocol

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.calling.discovery import CandidateFinder
from pairhmm.calling.target_windows import Extent, ListedPlaces, Place
from pairhmm.calling.unlisted_variants import Nuisances
from pairhmm.variants.regions import Region, RegionBuilder
from pairhmm.variants.variant import MAX_SHIFT, Variant


class RegionTest(Protocol):
    """Tests whether a 0-based position is inside some intervals."""

    def __call__(self, chrom: str, position: int) -> bool: ...


class RegionSource(Protocol):
    """Gives regions in coordinate order while reads arrive."""

    def needed(self, block: ReadBlock) -> ReadBlock:
        """The newest reads, or those of them that regions may need."""

    def advance(self, block: ReadBlock, frontier: int) -> Iterator[Region]:
        """The regions that are complete once all reads up to `frontier` have arrived. `block` has the newest reads."""

    def finish(self, chrom: str) -> Iterator[Region]:
        """The last regions of a contig whose reads have all arrived, and of contigs before it."""

    def finish_all(self) -> Iterator[Region]:
        """All remaining regions, once there are no more reads."""

    @property
    def open_start(self) -> int | None:
        """Where the region that is not complete begins; None without one."""


class DiscoveredRegions:
    """Gives regions of candidates that the reads show. Each region has a candidate that was asked for.

    Parameters
    ----------
    finder : CandidateFinder
    builder : RegionBuilder
    asked, known : callable, optional
        Where genotypes are asked for, and the larger area where candidates are sought. Both are everywhere by default.
    """

    def __init__(
        self,
        finder: CandidateFinder,
        builder: RegionBuilder,
        asked: RegionTest | None = None,
        known: RegionTest | None = None,
    ) -> None:
        self._finder, self._builder = finder, builder
        self._asked, self._known = asked, known

    def needed(self, block: ReadBlock) -> ReadBlock:
        """All of them."""
        return block

    def advance(self, block: ReadBlock, frontier: int) -> Iterator[Region]:
        """The regions whose candidates no later read can change."""
        yield from self._joined(self._finder.scan(block))
        yield from filter(is_asked, self._builder.advance(block.chrom, self._finder.settled))

    def finish(self, chrom: str) -> Iterator[Region]:
        """The last regions of a contig."""
        yield from self._joined(self._finder.finish())
        yield from filter(is_asked, self._builder.finish())

    def finish_all(self) -> Iterator[Region]:
        """Gives nothing: these regions come from reads, and each contig was finished after its last read."""
        return iter(())

    @property
    def open_start(self) -> int | None:
        """The first base that the region which is not complete, or a later one, may need."""
        later = self._finder.settled - 2 * MAX_SHIFT
        return later if self._builder.open_start is None else min(later, self._builder.open_start)

    def _joined(self, variants: Iterable[Variant]) -> Iterator[Region]:
        for variant in variants:
            if self._known is None or self._known(variant.chrom, variant.pos):
                yield from filter(is_asked, self._builder.push(placed(variant, self._asked)))


class ListedRegions:
    """Gives regions of listed candidates. Unlisted variants that reads show are added as nuisances.

    A read with an unlisted variant near a listed one fits no haplotype of listed alleles. A nuisance gives it a
    haplotype. Nuisances do not change how candidates are joined.

    Parameters
    ----------
    listed : iterable of (Variant, (int, int))
        Candidates and their extents, in the order of `contigs`, then by position.
    builder : RegionBuilder
    contigs : sequence of str
        Contigs in the order of the reads.
    nuisances : Nuisances
    asked : callable, optional
        Where genotypes are asked for; everywhere by default.
    """

    def __init__(
        self,
        listed: Iterable[tuple[Variant, Extent]],
        builder: RegionBuilder,
        contigs: Sequence[str],
        nuisances: Nuisances,
        asked: RegionTest | None = None,
    ) -> None:
        self._listed, upcoming = tee(listed)
        self._ahead = next(self._listed, None)
        self._builder, self._nuisances, self._asked = builder, nuisances, asked
        self._flank = builder.options.flank
        self._rank = {name: rank for rank, name in enumerate(contigs)}
        # A region reaches no further beyond its candidates, and has no larger gap between them.
        self._margin = max(self._flank, builder.options.join_distance)
        self._places = ListedPlaces(upcoming, self._margin, self._place_of)
        # Regions whose candidates are complete, but in which later reads may show a nuisance.
        self._joined: deque[Region] = deque()

    def needed(self, block: ReadBlock) -> ReadBlock:
        """The reads over the extents of listed candidates, and what may lie between two of a region."""
        beyond = self._margin - self._builder.options.join_distance
        return block.over([(start + beyond, end - beyond) for start, end in self._near(block)])

    def advance(self, block: ReadBlock, frontier: int) -> Iterator[Region]:
        """The regions that end before the frontier."""
        self._nuisances.scan(block, self._near(block))
        self._places.forget(self._nuisances.settled)
        self._join((self._rank[block.chrom], frontier))
        self._joined.extend(self._builder.advance(block.chrom, frontier))
        settled = self._nuisances.settled
        while self._joined and (self._joined[0].chrom != block.chrom or self._joined[0].end <= settled):
            yield from self._next()
        starts = [region.start for region in self._joined]
        if self._builder.open_start is not None:
            starts.append(self._builder.open_start - self._flank)
        self._nuisances.forget(min([*starts, settled - self._flank]) - 2 * MAX_SHIFT)

    def finish(self, chrom: str) -> Iterator[Region]:
        """The last regions of `chrom` and of contigs before it."""
        self._nuisances.finish()
        self._join((self._rank[chrom] + 1, 0))
        self._joined.extend(self._builder.finish())
        yield from self._rest()

    def finish_all(self) -> Iterator[Region]:
        """All remaining regions."""
        self._join((len(self._rank), 0))
        self._joined.extend(self._builder.finish())
        yield from self._rest()

    @property
    def open_start(self) -> int | None:
        """Start of the first region that was not given yet; None if there is none."""
        starts = [region.core_start for region in self._joined]
        if self._builder.open_start is not None:
            starts.append(self._builder.open_start)
        return min(starts, default=None)

    def _place_of(self, variant: Variant) -> Place:
        return self._rank[variant.chrom], variant.pos

    def _near(self, block: ReadBlock) -> list[Extent]:
        """The places of listed candidates that the reads of a block may reach."""
        return self._places.up_to(self._rank[block.chrom], int(block.end.max(initial=0)))

    def _join(self, place: Place) -> None:
        """Join the listed candidates before a place."""
        while self._ahead is not None and self._place_of(self._ahead[0]) < place:
            variant, extent = self._ahead
            self._ahead = next(self._listed, None)
            self._joined.extend(self._builder.push(placed(variant, self._asked), extent))

    def _rest(self) -> Iterator[Region]:
        while self._joined:
            yield from self._next()

    def _next(self) -> Iterator[Region]:
        region = self._joined.popleft()
        if is_asked(region):
            yield self._nuisances.added(region)


def placed(variant: Variant, asked: RegionTest | None) -> Variant:
    """The variant, with the role "context" if it lies outside the intervals that were asked for."""
    if asked is None or asked(variant.chrom, variant.pos):
        return variant
    return replace(variant, role="context")


def is_asked(region: Region) -> bool:
    """Whether the genotype of at least one candidate of the region is asked for."""
    return any(variant.role == "asked" for variant in region.variants)


class GivenRegion:
    """Gives one region that is known beforehand.

    Parameters
    ----------
    region : Region
    contigs : sequence of str
        Contigs in the order of the reads.
    """

    def __init__(self, region: Region, contigs: Sequence[str]) -> None:
        self._region: Region | None = region
        self._rank = {name: rank for rank, name in enumerate(contigs)}

    @property
    def open_start(self) -> int | None:
        """None: the region is complete from the start."""
        return None

    def needed(self, block: ReadBlock) -> ReadBlock:
        """All of them."""
        return block

    def advance(self, block: ReadBlock, frontier: int) -> Iterator[Region]:
        """The region, once the reads have reached it."""
        region = self._region
        if region is not None and (self._rank[region.chrom], region.core_start - 2 * MAX_SHIFT) < (
            self._rank[block.chrom],
            frontier,
        ):
            yield from self.finish_all()

    def finish(self, chrom: str) -> Iterator[Region]:
        """The region, if it is on `chrom` or on a contig before it."""
        if self._region is not None and self._rank[self._region.chrom] <= self._rank[chrom]:
            yield from self.finish_all()

    def finish_all(self) -> Iterator[Region]:
        """The region, if it was not given yet."""
        region, self._region = self._region, None
        if region is not None:
            yield region
