"""Rows of likelihood tables and of their companions as text, with what an index needs to know of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from pairhmm.files.bgzip import PackedText
from pairhmm.likelihoods.table import LikelihoodRows
from pairhmm.models.batch import PRECISIONS
from pairhmm.native import native

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

    @property
    def are_deep(self) -> bool:
        """Whether these are the lines of a deep region, which are blocks of their own in a bgzipped table."""
        return len(self.in_table) == 1 and self.in_table[0].rows >= DEEP


def lines_of(regions: Iterable[LikelihoodRows], are_packed: bool = False) -> Iterator[Lines]:
    """The lines of regions, those of several regions at a time, but those of a deep one by themselves.

    `are_packed`: the table is bgzipped. The lines of a deep region then are packed here, by the threads that make them:
    the one that writes would be too slow.
    """
    texts: list[tuple[bytes, bytes]] = []
    spans: list[tuple[Span, Span]] = []
    size = 0
    for rows in regions:
        if rows.log10.size >= DEEP and texts:
            yield _together(texts, spans, are_packed)
            texts, spans, size = [], [], 0
        place = f"{rows.chrom}\t{rows.start}\t{rows.end}"
        table, haplotypes = _table_lines(place, rows), _haplotype_lines(place, rows)
        texts.append((table, haplotypes))
        at = rows.chrom, rows.start, rows.end
        spans.append((Span(*at, rows.log10.size, len(table)), Span(*at, len(rows.haplotypes), len(haplotypes))))
        size += len(table)
        if size >= _AT_ONCE or rows.log10.size >= DEEP:
            yield _together(texts, spans, are_packed)
            texts, spans, size = [], [], 0
    if texts:
        yield _together(texts, spans, are_packed)


def _together(texts: list[tuple[bytes, bytes]], spans: list[tuple[Span, Span]], are_packed: bool) -> Lines:
    table, haplotypes = (b"".join(column) for column in zip(*texts, strict=True))
    lines = Lines(table, haplotypes, [span for span, _ in spans], [span for _, span in spans])
    return replace(lines, table=PackedText.of(table)) if are_packed and lines.are_deep else lines


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
