"""The places of listed candidates, where alone reads and unlisted variants count. Coordinates are 0-based half-open."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pairhmm.variants.variant import MAX_SHIFT, Variant

Extent = tuple[int, int]
Place = tuple[int, int]
"""The rank of a contig, and a position on it."""


class ListedPlaces:
    """The extents of listed candidates and some bases on either side, contig by contig.

    Parameters
    ----------
    listed : iterator of (Variant, (int, int))
        Candidates and their extents, in order of position.
    margin : int
        Bases on either side.
    place_of : callable
        The place of a candidate.
    """

    def __init__(
        self, listed: Iterator[tuple[Variant, Extent]], margin: int, place_of: Callable[[Variant], Place]
    ) -> None:
        self._listed, self._margin, self._place_of = listed, margin, place_of
        self._ahead = next(listed, None)
        self._rank = -1
        self._intervals: list[Extent] = []

    def up_to(self, rank: int, end: int) -> list[Extent]:
        """Those on a contig that begin before a position, and maybe later ones, which do not overlap.

        Contigs and positions come in order.
        """
        if rank != self._rank:
            self._rank, self._intervals = rank, []
        # An extent begins up to MAX_SHIFT bases before its record.
        while self._ahead is not None and self._place_of(self._ahead[0]) < (rank, end + self._margin + MAX_SHIFT):
            variant, (first, last) = self._ahead
            if self._place_of(variant)[0] == rank:
                self._add(first - self._margin, last + self._margin)
            self._ahead = next(self._listed, None)
        return self._intervals

    def forget(self, position: int) -> None:
        """Drop those that end at a position, or before it."""
        passed = 0
        while passed < len(self._intervals) and self._intervals[passed][1] <= position:
            passed += 1
        del self._intervals[:passed]

    def _add(self, start: int, end: int) -> None:
        while self._intervals and start <= self._intervals[-1][1]:
            before = self._intervals.pop()
            start, end = min(start, before[0]), max(end, before[1])
        self._intervals.append((start, end))
