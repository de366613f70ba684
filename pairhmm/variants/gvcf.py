"""Reference blocks of a gVCF: counts of reads that show the reference, and lines in GATK's form. 0-based."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.native import native
from pairhmm.sequences.arrays import offsets
from pairhmm.sequences.letters import encode
from pairhmm.variants.genotypes import GQ_BANDS, MAX_GQ
from pairhmm.variants.variant import MAX_SHIFT, FetchBases


class ReferenceBlock(NamedTuple):
    """Neighbouring positions that are alike: their GQ lies in one band.

    Attributes
    ----------
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

    `fetch`: ``fetch(chrom, start, end)`` gives reference bases, clamped to the contig. `min_base_quality`: bases of a
    lower quality are not counted. `limits`: GQ from which on each further band begins.
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


NON_REF = "<NON_REF>"
"""The allele that stands for every allele but those of a record."""


def gvcf_header(limits: Sequence[int]) -> list[str]:
    """The header lines that only a gVCF has.

    `limits`: GQ from which on each further band begins.
    """
    bands = [
        f"##GVCFBlock{first}-{last}=minGQ={first}(inclusive),maxGQ={last}(exclusive)"
        for first, last in pairwise([0, *limits, MAX_GQ + 1])
    ]
    return [
        *bands,
        '##ALT=<ID=NON_REF,Description="Any allele that is not the reference and not among those of the record">',
        '##INFO=<ID=END,Number=1,Type=Integer,Description="Last position of the block">',
        '##FORMAT=<ID=MIN_DP,Number=1,Type=Integer,Description="Lowest DP of the block">',
    ]


class BlockLines:
    """Joins blocks that continue each other, so that they do not depend on the pieces of a run, and makes lines."""

    def __init__(self) -> None:
        self._held: ReferenceBlock | None = None

    def lines(self, items: Iterable[str | ReferenceBlock]) -> Iterator[str]:
        """The lines that are whole, in order.

        `items`: lines of records, and what lies between them.
        """
        for item in items:
            if isinstance(item, str):
                yield from self.rest()
                yield item
            elif self._held is not None and self._held.joins(item):
                self._held = self._held.joined(item)
            else:
                yield from self.rest()
                self._held = item

    def rest(self) -> Iterator[str]:
        """The line of the last block."""
        if self._held is not None:
            yield block_line(self._held)
        self._held = None


def block_line(block: ReferenceBlock) -> str:
    """A block as a line of VCF. DP is the mean, and everything else the lowest. Equal likelihoods make no genotype."""
    depth = round(block.depth / (block.end - block.start))
    others = (block.both,) if block.ploidy == 1 else (block.one, block.both)
    genotype = "/".join(("0" if any(others) else ".") * block.ploidy)
    likelihoods = ",".join(map(str, (0, *others)))
    return (
        f"{block.chrom}\t{block.start + 1}\t.\t{block.base}\t{NON_REF}\t.\t.\tEND={block.end}\t"
        f"GT:DP:GQ:MIN_DP:PL\t{genotype}:{depth}:{block.quality}:{block.least_depth}:{likelihoods}\n"
    )
