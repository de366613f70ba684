"""Where regions come from: candidates that the reads show, or regions known beforehand.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from pairhmm.blocks import ReadBlock
from pairhmm.candidates import CandidateFinder
from pairhmm.regions import MAX_SHIFT, Region, RegionBuilder


class RegionTest(Protocol):
    """Whether a 0-based position is wanted."""

    def __call__(self, chrom: str, position: int) -> bool: ...


class RegionSource(Protocol):
    """Gives regions in coordinate order as the reads come in."""

    def advance(self, block: ReadBlock, frontier: int) -> Iterator[Region]:
        """Regions that are known once reads up to `frontier` were seen; `block` has the newest."""

    def finish(self, chrom: str) -> Iterator[Region]:
        """The regions left on a contig whose reads have all been seen, and on contigs before it."""

    def finish_all(self) -> Iterator[Region]:
        """All regions left, once there are no more reads."""

    @property
    def open_start(self) -> int | None:
        """Where the region that is still being joined begins, if there is one."""


class DiscoveredRegions:
    """Regions around candidates that the reads show."""

    def __init__(self, finder: CandidateFinder, builder: RegionBuilder, within: RegionTest | None = None) -> None:
        self._finder = finder
        self._builder = builder
        self._within = within

    def advance(self, block: ReadBlock, frontier: int) -> Iterator[Region]:
        """Regions whose candidates are settled."""
        for variant in self._finder.scan(block):
            if self._within is None or self._within(variant.chrom, variant.pos):
                yield from self._builder.push(variant)
        yield from self._builder.advance(block.chrom, frontier)

    def finish(self, chrom: str) -> Iterator[Region]:
        """The last regions of a contig."""
        for variant in self._finder.finish():
            if self._within is None or self._within(variant.chrom, variant.pos):
                yield from self._builder.push(variant)
        yield from self._builder.finish()

    def finish_all(self) -> Iterator[Region]:
        """Nothing: regions come from reads, contig by contig."""
        return iter(())

    @property
    def open_start(self) -> int | None:
        """Where the region that is still being joined begins."""
        return self._builder.open_start


class GivenRegions:
    """Regions known beforehand, which also say which reads are wanted.

    Parameters
    ----------
    regions : iterable of Region
        In the order of `contigs`, by position within each.
    contigs : sequence of str
        Contigs in the order of the reads.
    """

    def __init__(self, regions: Iterable[Region], contigs: Sequence[str]) -> None:
        self._regions = iter(regions)
        self._rank = {name: rank for rank, name in enumerate(contigs)}
        self._queue: deque[Region] = deque()
        self._ahead: Region | None = next(self._regions, None)

    @property
    def open_start(self) -> int | None:
        """Nothing is being joined here."""
        return None

    def _pull(self) -> Region | None:
        region, self._ahead = self._ahead, next(self._regions, None) if self._ahead is not None else None
        if region is not None:
            self._queue.append(region)
        return region

    def intervals(self) -> Iterator[tuple[str, int, int]]:
        """Where reads are wanted: disjoint intervals (chrom, start, end) in order."""
        current: tuple[str, int, int] | None = None
        while (region := self._pull()) is not None:
            if current is not None and (region.chrom != current[0] or region.core_start > current[2] + 2 * MAX_SHIFT):
                yield current
                current = None
            if current is None:
                current = (region.chrom, region.core_start, region.core_end)
            else:
                current = (region.chrom, min(current[1], region.core_start), max(current[2], region.core_end))
        if current is not None:
            yield current

    def advance(self, block: ReadBlock, frontier: int) -> Iterator[Region]:
        """Regions that begin before the frontier."""
        rank = self._rank[block.chrom]
        while (region := self._next()) is not None:
            behind = self._rank[region.chrom] < rank
            if not behind and (region.chrom != block.chrom or region.core_start - 2 * MAX_SHIFT >= frontier):
                return
            yield self._queue.popleft()

    def finish(self, chrom: str) -> Iterator[Region]:
        """The regions left on `chrom` and before."""
        rank = self._rank[chrom]
        while (region := self._next()) is not None and self._rank[region.chrom] <= rank:
            yield self._queue.popleft()

    def finish_all(self) -> Iterator[Region]:
        """All that is left."""
        while self._next() is not None:
            yield self._queue.popleft()

    def _next(self) -> Region | None:
        if not self._queue:
            self._pull()
        return self._queue[0] if self._queue else None
