"""Rows of likelihood tables and of their companions as text, with what an index needs to know of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from pairhmm.files.bgzip import PackedText
from pairhmm.likelihoods.table import LikelihoodRows
from pairhmm.models.batch import PRECISIONS
from pairhmm.native import native

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


def lines_of(regions: Iterable[LikelihoodRows]) -> Iterator[Lines]:
    """The lines of regions, those of several regions at a time, but those of a deep one by themselves."""
    texts: list[tuple[bytes, bytes]] = []
    spans: list[tuple[Span, Span]] = []
    size = 0
    for rows in regions:
        if rows.log10.size >= DEEP and texts:
            yield _together(texts, spans)
            texts, spans, size = [], [], 0
        place = f"{rows.chrom}\t{rows.start}\t{rows.end}"
        table, haplotypes = _table_lines(place, rows), _haplotype_lines(place, rows)
        texts.append((table, haplotypes))
        at = rows.chrom, rows.start, rows.end
        spans.append((Span(*at, rows.log10.size, len(table)), Span(*at, len(rows.haplotypes), len(haplotypes))))
        size += len(table)
        if size >= _AT_ONCE or rows.log10.size >= DEEP:
            yield _together(texts, spans)
            texts, spans, size = [], [], 0
    if texts:
        yield _together(texts, spans)


def region_lines(
    regions: ScoredRegions, samples: Sequence[str], floor: float | None, is_prepared: bool, are_joined: bool
) -> Iterator[Lines]:
    """The lines of scored regions, as `lines_of` makes them of their rows.

    `is_prepared`: without the reads that are set aside, and with scores at most `floor` below a read's best.
    """
    for table, haplotypes, in_table, in_haplotypes in regions.table_lines(
        list(samples), list(PRECISIONS), is_prepared, floor, are_joined, _AT_ONCE, DEEP
    ):
        yield Lines(table, haplotypes, [Span(*one) for one in in_table], [Span(*one) for one in in_haplotypes])


def _together(texts: list[tuple[bytes, bytes]], spans: list[tuple[Span, Span]]) -> Lines:
    table, haplotypes = (b"".join(column) for column in zip(*texts, strict=True))
    return Lines(table, haplotypes, [span for span, _ in spans], [span for _, span in spans])


def _table_lines(place: str, rows: LikelihoodRows) -> bytes:
    return native.likelihood_lines(
        place,
        list(rows.samples),
        rows.sample,
        rows.read_names.text,
        rows.read_names.end,
        rows.mates,
        rows.haplotypes,
        rows.log10.reshape(-1),
        rows.precision.reshape(-1),
        list(PRECISIONS),
        rows.reads,
    )


def _haplotype_lines(place: str, rows: LikelihoodRows) -> bytes:
    haplotypes = zip(rows.haplotypes, rows.sequences, rows.alleles, rows.nuisances, strict=True)
    return "".join(f"{place}\t{n}\t{s}\t{a}\t{rows.variants or '.'}\t{int(x)}\n" for n, s, a, x in haplotypes).encode()
