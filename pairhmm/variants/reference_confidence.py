"""Blocks of positions where reads show the reference. The counting is native (cpu/calling/reference_confidence.cpp).

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.native import native
from pairhmm.sequences.arrays import offsets
from pairhmm.sequences.letters import encode
from pairhmm.variants.regions import MAX_SHIFT, FetchBases

GQ_BANDS = 1, 10, 20, 30, 40, 60, 80
"""GQ from which on each further band of blocks begins."""


class ReferenceBlock(NamedTuple):
    """Neighbouring positions that are alike: their GQ lies in one band.

    Attributes
    ----------
    chrom : str
    start, end : int
    base : str
        The reference at `start`.
    ploidy : int
        1 or 2.
    band : int
        -2 without reads, -1 where all genotypes are equally likely; otherwise how many of the bands' limits are not
        above GQ.
    quality : int
        The lowest GQ.
    depth : int
        The sum of the depths.
    least_depth : int
    one, both : int
        The lowest Phred likelihoods of one and of two copies that are not the reference.
    """

    chrom: str
    start: int
    end: int
    base: str
    ploidy: int
    band: int
    quality: int
    depth: int
    least_depth: int
    one: int
    both: int

    def joins(self, other: ReferenceBlock) -> bool:
        """Whether another block continues this one."""
        ours = self.chrom, self.end, self.ploidy, self.band
        return ours == (other.chrom, other.start, other.ploidy, other.band)

    def joined(self, other: ReferenceBlock) -> ReferenceBlock:
        """Both as one block."""
        return self._replace(
            end=other.end,
            quality=min(self.quality, other.quality),
            depth=self.depth + other.depth,
            least_depth=min(self.least_depth, other.least_depth),
            one=min(self.one, other.one),
            both=min(self.both, other.both),
        )


class ConfidenceScanner:
    """Counts the reads of one sample at every position. Their indels are shifted left first, as those of records are.

    Parameters
    ----------
    fetch : callable
        ``fetch(chrom, start, end)`` gives reference bases, clamped to the contig.
    min_base_quality : int
        Bases of a lower quality are not counted.
    limits : sequence of int
        GQ from which on each further band begins.
    """

    def __init__(self, fetch: FetchBases, min_base_quality: int, limits: Sequence[int] = GQ_BANDS) -> None:
        self._fetch, self._min_base_quality, self._limits = fetch, min_base_quality, list(limits)
        # Reads of a contig may arrive before the blocks of the one before are taken.
        self._counts = {"": native.ReferenceConfidence(min_base_quality)}

    def add(self, block: ReadBlock) -> None:
        """Count the reads of the next block."""
        windows = block.native.covered()
        if not windows:
            return
        if block.chrom not in self._counts:
            self._counts[block.chrom] = native.ReferenceConfidence(self._min_base_quality)
        # Repeats at the ends of reads show only behind them.
        letters = [encode(self._fetch(block.chrom, start, end + MAX_SHIFT)) for start, end in windows]
        self._counts[block.chrom].add(
            block.native,
            block.end,
            block.names.checksums(np.arange(len(block))),
            np.array([start for start, _ in windows], dtype=np.int64),
            offsets(list(map(len, letters))),
            np.concatenate(letters),
        )

    def take(self, chrom: str, start: int, end: int, ploidy: int) -> list[ReferenceBlock]:
        """The blocks of an interval whose reads were all added. What lies before its end is forgotten."""
        counts = self._counts.get(chrom, self._counts[""])
        return [
            ReferenceBlock(chrom, first, last, self._fetch(chrom, first, first + 1), ploidy, *values)
            for first, last, *values in counts.take(start, end, self._limits, ploidy == 1)
        ]

    def forget(self, chrom: str) -> None:
        """Forget a contig."""
        self._counts.pop(chrom, None)
