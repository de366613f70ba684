"""Blocks of the reference as lines of a gVCF, in the form of GATK's. All coordinates are 0-based half-open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from pairhmm.variants.genotypes import MAX_GQ
from pairhmm.variants.reference_confidence import ReferenceBlock

NON_REF = "<NON_REF>"
"""The allele that stands for every allele but those of a record."""


def gvcf_header(limits: Sequence[int]) -> list[str]:
    """The header lines that only a gVCF has.

    Parameters
    ----------
    limits : sequence of int
        GQ from which on each further band begins.
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

        Parameters
        ----------
        items : iterable of str or ReferenceBlock
            Lines of records, and what lies between them.
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
