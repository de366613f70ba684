"""Writes the tables of `pairhmm map relate`: pairs of samples, and samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isnan
from typing import TextIO

PAIR_COLUMNS = (
    *("sample_1", "sample_2", "sites", "concordance", "ibs0", "ibs2", "shared_hets", "relatedness"),
    *("expected", "found", "flags", "note"),
)
SAMPLE_COLUMNS = (
    *("sample", "sites", "depth", "heterozygosity"),
    *("contamination", "contamination_low", "contamination_high", "flags"),
)
UNKNOWN = "."


def write_rows(out: TextIO, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table: numbers with a fraction have four decimals; NaN, an empty tuple and an empty text are ``.``."""
    out.write("#" + "\t".join(columns) + "\n")
    out.writelines(_lines(rows))


def _lines(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    return ("\t".join(map(_text, row)) + "\n" for row in rows)


def _text(cell: object) -> str:
    if isinstance(cell, tuple):
        return ",".join(cell) or UNKNOWN
    if isinstance(cell, float):
        return UNKNOWN if isnan(cell) else f"{cell:.4f}"
    return str(cell) or UNKNOWN
