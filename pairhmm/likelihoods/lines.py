"""Rows of likelihood tables and of their companions as text, with what an index needs to know of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from pairhmm.files.bgzip import PackedText
from pairhmm.models.batch import PRECISIONS

if TYPE_CHECKING:
    from pairhmm._cpu import ScoredRegions

DEEP = 1 << 17
"""Pairs from which on those of a region are blocks of their own in a bgzipped table."""
# Bytes of lines that are put together.
_AT_ONCE = 1 << 18


class Span(NamedTuple):
    """The rows of a region in a text: their place (0-based half-open), their number, and their bytes."""

    chrom: str
    start: int
    end: int
    rows: int
    size: int


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of some regions, in order.

    Attributes
    ----------
    table, haplotypes : bytes
        UTF-8: rows of the table, and those of the companion. The table's may be packed already.
    in_table, in_haplotypes : list of Span
        Each region's rows in both.
    """

    table: bytes | PackedText
    haplotypes: bytes
    in_table: list[Span]
    in_haplotypes: list[Span]

    def packed(self) -> Lines:
        """The same. Those of a deep region are packed here: one thread that writes would be too slow."""
        table = self.table
        return replace(self, table=PackedText.of(table)) if self.are_deep and isinstance(table, bytes) else self

    @property
    def are_deep(self) -> bool:
        """Whether these are the lines of a deep region, which are blocks of their own in a bgzipped table."""
        return len(self.in_table) == 1 and self.in_table[0].rows >= DEEP


def region_lines(
    regions: ScoredRegions, samples: Sequence[str], floor: float | None, is_prepared: bool
) -> Iterator[Lines]:
    """The lines of scored regions, those of several regions at a time, but those of a deep one by themselves.

    `is_prepared`: without the reads that are set aside, and with scores at most `floor` below a read's best.
    """
    for table, haplotypes, in_table, in_haplotypes in regions.table_lines(
        list(samples), list(PRECISIONS), is_prepared, floor, _AT_ONCE, DEEP
    ):
        yield Lines(table, haplotypes, [Span(*one) for one in in_table], [Span(*one) for one in in_haplotypes])
