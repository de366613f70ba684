"""Reads likelihood tables and their companions region by region. `pairhmm.likelihoods.writer` writes them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.inputs import opening
from pairhmm.files.pipes import require_file
from pairhmm.files.text_lines import read_lines, read_rows
from pairhmm.likelihoods.parquet import numbers_of
from pairhmm.likelihoods.parquet_tables import ParquetTable, tell_of_unchecked
from pairhmm.likelihoods.table import (
    COLUMNS,
    DEFAULT_MODEL,
    HAPLOTYPE_COLUMNS,
    MODEL_LINE,
    NEEDED_COLUMNS,
    Format,
    companion,
)
from pairhmm.models.batch import PRECISIONS
from pairhmm.sequences.letters import encode
from pairhmm.variants.gathered import has_variants
from pairhmm.variants.sites import RegionVariant, parse_variants

_MADE_BY = "pairhmm likelihoods"
_ROWS_AT_ONCE = 1 << 16
_CODES = {name: code for code, name in enumerate(PRECISIONS)}
_NO_ROW = float("nan")
# The largest absolute log10 likelihood that is accepted. Ten million bases of the worst quality do not exceed it.
_LARGEST = 2e7

Locus = tuple[str, int, int]
"""Contig, start and end of a region, 0-based half-open."""


@dataclass(frozen=True, slots=True)
class RegionLikelihoods:
    """The likelihoods of a region's reads, with its haplotypes and variants, from a likelihood table.

    Attributes
    ----------
    start, end : int
        0-based half-open.
    haplotypes, sequences, alleles : list of str
        Names, bases, and comma-separated alleles of the region's variants.
    variants : str
        The column `variants` of the haplotype table.
    samples, names : list of str
        Sample and name of each read.
    mates : list of int
        1 or 2 for each read; 0 for a read without a mate.
    log10 : float64 (reads, haplotypes)
        NaN where the table has no row.
    precision : uint8 (reads,)
        The highest code of precision among a read's rows (`pairhmm.models.batch.PRECISIONS`).
    """

    chrom: str
    start: int
    end: int
    haplotypes: list[str]
    sequences: list[str]
    alleles: list[str]
    variants: str
    samples: list[str]
    names: list[str]
    mates: list[int]
    log10: NDArray[np.float64]
    precision: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class RegionHaplotypes:
    """The rows of a companion table that describe one region. `variants_text` is the unparsed column `variants`."""

    locus: Locus
    names: list[str]
    sequences: list[str]
    alleles: list[str]
    variants: list[RegionVariant]
    variants_text: str


class LikelihoodTable:
    """A likelihood table with its companion.

    Raises InputError where one of the two files is missing, and for Parquet without the columns.

    `path`: ``.parquet``, or TSV, gzipped or not.
    """

    def __init__(self, path: str) -> None:
        self.path, self.companion = path, companion(path)
        require_file(path, "its companion is found by its name")
        if not os.path.isfile(path):
            raise InputError(path, "", "no such file", "give a table that pairhmm likelihoods wrote")
        if not os.path.isfile(self.companion):
            if has_variants(path):
                raise InputError(path, "", "is VCF or BCF, and no likelihood table", "give calls with --calls")
            rule = f"its companion {self.companion} is not there"
            raise InputError(path, "", rule, "keep the two files that pairhmm likelihoods writes together")
        opening(path)
        opening(self.companion)
        self._is_parquet = Format.of(path) is Format.PARQUET
        if self._is_parquet:
            with ParquetTable(self.companion, True) as described, ParquetTable(path, False) as table:
                self._model = table.model or DEFAULT_MODEL
                tell_of_unchecked([table, described], f"it is taken for {self._model}")

    def model(self) -> str:
        """The model and its parameters, such as ``gatk`` or ``profile (normalised)``.

        Raises InputError for a file that can't be read.
        """
        if self._is_parquet:
            return self._model
        first = next(read_lines(self.companion), "")
        return first.removeprefix(MODEL_LINE) if first.startswith(MODEL_LINE) else DEFAULT_MODEL

    def haplotypes(self) -> Iterator[RegionHaplotypes]:
        """The haplotypes of each region.

        Raises InputError for a row that can't be used. The message names file and line.
        """
        rows = self._rows(None)
        for locus, group in groupby(rows, key=lambda row: _locus(self.companion, row[:3])):
            _, _, _, names, sequences, alleles, texts, _ = zip(*group, strict=True)
            self._check_bases(locus, sequences)
            variants = self._variants(locus, texts[0])
            yield RegionHaplotypes(locus, list(names), list(sequences), list(alleles), variants, texts[0])

    def _check_bases(self, locus: Locus, sequences: Sequence[str]) -> None:
        chrom, start, end = locus
        rule = "" if all(sequences) else "a haplotype without bases"
        try:
            encode("".join(sequences))
        except ValueError:
            rule = "a haplotype with a letter that is not an IUPAC base"
        if rule:
            raise InputError(self.companion, f"{chrom}:{start + 1}-{end}", rule, "make the table again")

    def regions(self, wanted: Callable[[Locus], RegionHaplotypes | None]) -> Iterator[RegionLikelihoods]:
        """The likelihoods of each wanted region. The rows of other regions are skipped.

        Raises InputError for a haplotype that the companion does not have, and for a field that is no number. The
        message names the region.

        `wanted`: ``wanted(locus)`` gives the region's haplotypes, or None.
        """
        known: dict[Locus, RegionHaplotypes | None] = {}

        def is_wanted(chrom: str, start: int, end: int) -> bool:
            locus = (chrom, start, end)
            if locus not in known:
                known.clear()
                known[locus] = wanted(locus)
            return known[locus] is not None

        for locus, group in groupby(self._rows(is_wanted), key=lambda row: (row[1], row[2], row[3])):
            haplotypes = wanted(locus)
            if haplotypes is not None:
                yield self._region(haplotypes, group)

    def _rows(self, wanted: Wanted | None) -> Iterator[Sequence[Any]]:
        """The rows of the table that are wanted, or with None those of the companion, with start and end as int."""
        if self._is_parquet:
            is_companion = wanted is None
            with ParquetTable(self.companion if is_companion else self.path, is_companion) as table:
                yield from _parquet_rows(table, wanted)
        elif wanted is None:
            yield from read_rows(self.companion, HAPLOTYPE_COLUMNS, _MADE_BY, MODEL_LINE)
        else:
            yield from _text_rows(self.path, wanted)

    def _region(self, haplotypes: RegionHaplotypes, rows: Iterator[Sequence[Any]]) -> RegionLikelihoods:
        columns = {name: index for index, name in enumerate(haplotypes.names)}
        if len(columns) < len(haplotypes.names):
            chrom, start, end = haplotypes.locus
            rule = "the table of its haplotypes has one of them twice"
            raise InputError(self.path, f"{chrom}:{start}-{end}", rule, "give both tables of one run")
        reads: dict[tuple[str, str, str], tuple[list[float], list[int]]] = {}
        for row in rows:
            sample, _, _, _, name, mate, haplotype, score, precision = row[: len(NEEDED_COLUMNS)]
            scores, codes = reads.setdefault((sample, name, mate), ([_NO_ROW] * len(columns), []))
            try:
                scores[columns[haplotype]] = _likelihood(score)
                codes.append(_CODES[precision])
            except (KeyError, ValueError):
                raise self._misfit(row, columns) from None
        chrom, start, end = haplotypes.locus
        return RegionLikelihoods(
            chrom,
            start,
            end,
            haplotypes.names,
            haplotypes.sequences,
            haplotypes.alleles,
            haplotypes.variants_text,
            [sample for sample, _, _ in reads],
            [name for _, name, _ in reads],
            [self._mate(mate, name) for _, name, mate in reads],
            np.array([scores for scores, _ in reads.values()], dtype=np.float64).reshape(len(reads), len(columns)),
            np.array([max(codes) for _, codes in reads.values()], dtype=np.uint8),
        )

    def _misfit(self, row: Sequence[Any], columns: Mapping[str, int]) -> InputError:
        """The error for a row that does not fit."""
        _, chrom, start, end, name, _, haplotype, score, precision = row[: len(NEEDED_COLUMNS)]
        if haplotype not in columns:
            rule = f"haplotype {haplotype} is not in {self.companion}"
            return InputError(self.path, f"{chrom}:{start + 1}-{end}", rule, "keep the two files of a run together")
        rule = f"unknown precision {precision!r}" if precision not in _CODES else f"{score!r} is not a likelihood"
        return InputError(self.path, f"read {name}", rule, "check the table")

    def _variants(self, locus: Locus, text: str) -> list[RegionVariant]:
        try:
            return parse_variants(text)
        except ValueError:
            chrom, start, end = locus
            rule = f"{text!r} are not variants"
            raise InputError(self.companion, f"{chrom}:{start + 1}-{end}", rule, "make the table again") from None

    def _mate(self, text: str | int, read: str) -> int:
        if str(text) not in ("0", "1", "2"):
            raise InputError(self.path, f"read {read}", f"{text!r} is not a mate", "check the table")
        return int(text)


Wanted = Callable[[str, int, int], bool]


def _likelihood(text: Any) -> float:
    """Parse a log10 likelihood, which may be -inf. Raises ValueError for other text and for impossible scores."""
    number = float(text)
    if not (number == -math.inf or abs(number) <= _LARGEST):
        raise ValueError(text)
    return number


def _locus(path: str, fields: Sequence[Any]) -> Locus:
    chrom, start, end = fields
    try:
        return str(chrom), int(start), int(end)
    except ValueError:
        raise InputError(path, f"{chrom}:{start}-{end}", "not a region", "check the table") from None


def _text_rows(path: str, wanted: Wanted) -> Iterator[Sequence[Any]]:
    rows = read_rows(path, NEEDED_COLUMNS, _MADE_BY, optional=COLUMNS[-1:])
    for texts, group in groupby(rows, key=itemgetter(1, 2, 3)):
        locus = _locus(path, texts)
        if wanted(*locus):
            yield from ([row[0], *locus, *row[4:]] for row in group)


def _parquet_rows(table: ParquetTable, wanted: Wanted | None) -> Iterator[Sequence[Any]]:
    for batch in table.batches(_ROWS_AT_ONCE):
        with table.errors():
            if batch.num_rows:
                yield from _batch_rows(batch, wanted)


def _batch_rows(batch: Any, wanted: Wanted | None) -> Iterator[Sequence[Any]]:
    """The rows of a Parquet batch. Only the wanted rows are turned into text."""
    if wanted is None:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
        return
    chroms = batch.column("chrom")
    codes, names = numbers_of(chroms.indices), chroms.dictionary.to_pylist()
    loci = np.stack((codes, *(numbers_of(batch.column(name)) for name in ("start", "end"))))
    turns = np.flatnonzero((loci[:, 1:] != loci[:, :-1]).any(axis=0)) + 1
    columns = [_values(column) for column in batch.columns]
    for first, last in pairwise([0, *turns.tolist(), batch.num_rows]):
        code, start, end = loci[:, first].tolist()
        if wanted(names[code], start, end):
            yield from zip(*(values(first, last) for values in columns), strict=True)


def _values(column: Any) -> Callable[[int, int], list[Any]]:
    """A function that gives the values of a part of a column. It unpacks a dictionary only once."""
    if hasattr(column, "dictionary"):
        codes, names = numbers_of(column.indices), column.dictionary.to_pylist()
        return lambda first, last: [names[code] for code in codes[first:last].tolist()]
    return lambda first, last: column[first:last].to_pylist()
