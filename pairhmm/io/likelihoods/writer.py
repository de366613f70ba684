"""Writes likelihood tables and their companions: TSV, bgzipped TSV with a tabix index, or zstd Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from pairhmm.compiled import native
from pairhmm.io.files import parquet
from pairhmm.io.files.bgzip import BgzipText, PackedText
from pairhmm.io.files.endings import TABIX_INDICES, require_ending
from pairhmm.io.files.names import printable
from pairhmm.io.files.outputs import ByteSink, is_device, open_binary_output, output_errors, whole_files
from pairhmm.io.files.standard_streams import STDOUT
from pairhmm.io.files.tabix import TableIndex
from pairhmm.io.likelihoods.columns import haplotype_columns, score_columns
from pairhmm.io.likelihoods.table import (
    COLUMNS,
    DEFAULT_MODEL,
    ENDINGS,
    HAPLOTYPE_COLUMNS,
    MODEL_KEY,
    MODEL_LINE,
    READS_COLUMN,
    LikelihoodRows,
    companion,
)
from pairhmm.models.batch import PRECISIONS

DEEP = parquet.ROWS_PER_GROUP
"""Rows from which on those of a region are encoded by themselves."""

# Rows of a region that are made to Parquet columns at once.
_PAIRS_AT_ONCE = 1 << 20


class LikelihoodWriter(Protocol):
    """The interface of the writers of all formats."""

    def write(self, rows: LikelihoodRows | EncodedLikelihoods) -> None:
        """Append the rows of a region, as they are or as an `Encoder` made them for this file."""


@contextmanager
def open_likelihoods(
    destination: str | Path, model: str = DEFAULT_MODEL, are_joined: bool = False, threads: int = 1
) -> Iterator[LikelihoodWriter]:
    """Open a writer, of the format of the destination's extension.

    ``.tsv.gz`` and ``.gz`` are bgzipped, ``.parquet`` is Parquet, all else is TSV; ``-`` is stdout. The companion is
    written beside the table as ``NAME.haplotypes.EXT``; stdout and devices get none. The files appear when the block
    ends well. Where reads are joined (`are_joined`), the table has the column `READS_COLUMN`.

    Parameters
    ----------
    destination : str or Path
    model : str
        The model and its parameters, as `pairhmm.evidence.inputs.RunOptions.model_text` names them.
    are_joined : bool
    threads : int
        With two or more, rows are compressed and written while the caller makes the next ones.

    Raises
    ------
    InputError
        Where the destination can't be written or has another extension, and for Parquet without pyarrow.
    """
    path = str(destination)
    require_ending(path, "tables", ENDINGS)
    if path == STDOUT or is_device(path):
        with open_binary_output(path) as table:
            yield _TextWriter(table, None, model, are_joined)
    elif path.endswith(parquet.ENDING):
        arrow = parquet.pyarrow_for(path)
        with whole_files(path) as table, whole_files(companion(path)) as haplotypes:
            with output_errors(path):
                writer = _ParquetWriter(arrow, table, haplotypes, model, are_joined, threads)
                try:
                    yield writer
                finally:
                    writer.close()
    elif path.endswith(".gz"):
        with whole_files(path, *TABIX_INDICES) as table, whole_files(companion(path), *TABIX_INDICES) as haplotypes:
            with output_errors(path):
                with BgzipText(table, threads) as text, BgzipText(haplotypes) as described:
                    indices = _Indices(text, described)
                    yield _TextWriter(text, described, model, are_joined, indices)
                indices.write(table, haplotypes)
    else:
        # The table is the inner file, so that the error for a full disk names it.
        with open_binary_output(companion(path)) as described, open_binary_output(path) as text:
            yield _TextWriter(text, described, model, are_joined)


def _columns(are_joined: bool) -> tuple[str, ...]:
    return (*COLUMNS, READS_COLUMN) if are_joined else COLUMNS


class _Indices:
    """The indices of a bgzipped table and of its companion."""

    def __init__(self, table: BgzipText, haplotypes: BgzipText) -> None:
        self._table = TableIndex(table, COLUMNS.index("chrom"))
        self._haplotypes = TableIndex(haplotypes, HAPLOTYPE_COLUMNS.index("chrom"))

    def add(self, region: LikelihoodRows, pairs: int, size: int, described: int) -> None:
        """Take a region whose lines were just written: so many, and so many bytes of the table and its companion."""
        place = region.chrom, region.start, region.end
        self._table.add(*place, pairs, size)
        self._haplotypes.add(*place, len(region.haplotypes), described)

    def write(self, table: Path, haplotypes: Path) -> None:
        self._table.write(table)
        self._haplotypes.write(haplotypes)


class _TextWriter:
    def __init__(
        self,
        table: ByteSink,
        haplotypes: ByteSink | None,
        model: str,
        are_joined: bool,
        indices: _Indices | None = None,
    ) -> None:
        self._table, self._haplotypes, self._indices = table, haplotypes, indices
        # Programs take a table's first line for its header, so that of the default model stays there.
        if model != DEFAULT_MODEL:
            table.write(f"{MODEL_LINE}{printable(model)}\n".encode())
        table.write(_header(_columns(are_joined)))
        if haplotypes is not None:
            haplotypes.write(_header(HAPLOTYPE_COLUMNS))

    def write(self, rows: LikelihoodRows | EncodedLikelihoods) -> None:
        if isinstance(rows, EncodedLikelihoods):
            region, pairs, lines = rows.region, rows.pairs, rows.parts[0]
        else:
            region, pairs, lines = rows, rows.log10.size, _lines(rows)
        before = self._table.size if isinstance(self._table, BgzipText) else 0
        if isinstance(self._table, BgzipText) and pairs >= DEEP:
            self._table.write_apart(lines)
        else:
            self._table.write(lines)
        if self._haplotypes is None:
            return
        haplotypes = zip(region.haplotypes, region.sequences, region.alleles, region.nuisances, strict=True)
        place, variants = _place(region), region.variants or "."
        described = "".join(f"{place}\t{n}\t{s}\t{a}\t{variants}\t{int(x)}\n" for n, s, a, x in haplotypes).encode()
        self._haplotypes.write(described)
        if self._indices is not None and isinstance(self._table, BgzipText):
            self._indices.add(region, pairs, self._table.size - before, len(described))


def _place(rows: LikelihoodRows) -> str:
    return f"{rows.chrom}\t{rows.start}\t{rows.end}"


def _header(columns: Sequence[str]) -> bytes:
    return ("#" + "\t".join(columns) + "\n").encode()


def _lines(rows: LikelihoodRows) -> bytes:
    return native.likelihood_lines(
        _place(rows),
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


class _ParquetWriter:
    def __init__(
        self, arrow: ModuleType, table: Path, haplotypes: Path, model: str, are_joined: bool, threads: int
    ) -> None:
        self._table = parquet.RowGroups(table, _score_table(arrow, are_joined), {MODEL_KEY: model}, threads)
        text, number = arrow.string(), arrow.int64()
        described = (_coded(arrow), number, number, text, text, text, text, arrow.int8())
        columns = list(zip(HAPLOTYPE_COLUMNS, described, strict=True))
        self._haplotypes = parquet.RowGroups(haplotypes, parquet.Table(arrow, columns, haplotype_columns))

    def write(self, rows: LikelihoodRows | EncodedLikelihoods) -> None:
        if isinstance(rows, EncodedLikelihoods):
            parts, region = rows.parts, rows.region
        else:
            parts, region = list(_parts(rows)), rows
        for part in parts:
            if isinstance(part, LikelihoodRows):
                self._table.append(part, part.log10.size)
            else:
                self._table.append_encoded(part)
        self._haplotypes.append(region, len(region.haplotypes))

    def close(self) -> None:
        self._table.close()
        self._haplotypes.close()


def _coded(arrow: ModuleType) -> Any:
    return arrow.dictionary(arrow.int32(), arrow.string())


def _score_table(arrow: ModuleType, are_joined: bool) -> parquet.Table[LikelihoodRows]:
    text, number, coded = arrow.string(), arrow.int64(), _coded(arrow)
    types = [coded, coded, number, number, text, arrow.int8(), coded, arrow.float64(), coded]
    types += [arrow.int32()] if are_joined else []
    return parquet.Table(arrow, list(zip(_columns(are_joined), types, strict=True)), score_columns)


@dataclass(frozen=True, slots=True)
class EncodedLikelihoods:
    """The rows of a deep region as a file has them.

    Attributes
    ----------
    parts : sequence of EncodedRows, LikelihoodRows or PackedText
        For Parquet, row groups and what is too little for one. For bgzipped text, a single part.
    pairs : int
    region : LikelihoodRows
        The region without its reads.
    """

    parts: Sequence[Any]
    pairs: int
    region: LikelihoodRows


@dataclass(frozen=True, slots=True)
class Encoder:
    """Encodes the rows of deep regions for a file, in this process or in another. The bytes are the same.

    Parameters
    ----------
    path : str
        Of the file.
    are_joined : bool
        As for `open_likelihoods`.
    """

    path: str
    are_joined: bool

    def __call__(self, rows: LikelihoodRows) -> LikelihoodRows | EncodedLikelihoods:
        """The rows; encoded, where they are many."""
        if rows.log10.size < DEEP:
            return rows
        if self.path.endswith(parquet.ENDING):
            table = _score_table(parquet.pyarrow_for(self.path), self.are_joined)
            parts: Sequence[Any] = [part if part.log10.size < DEEP else table.encoded([part]) for part in _parts(rows)]
        elif self.path.endswith(".gz"):
            parts = [PackedText.of(_lines(rows))]
        else:
            return rows
        return EncodedLikelihoods(parts, rows.log10.size, _reads(rows, 0, 0))


def _parts(rows: LikelihoodRows) -> Iterator[LikelihoodRows]:
    """The rows of a region, in parts whose columns have room in memory and in Arrow's arrays."""
    reads, haplotypes = rows.log10.shape
    step = max(1, _PAIRS_AT_ONCE // max(1, haplotypes))
    if reads <= step:
        yield rows
        return
    for first in range(0, reads, step):
        yield _reads(rows, first, min(first + step, reads))


def _reads(rows: LikelihoodRows, first: int, end: int) -> LikelihoodRows:
    """The rows of the reads `first` to ``end - 1``."""
    return replace(
        rows,
        sample=rows.sample[first:end],
        read_names=rows.read_names.take(first, end),
        mates=rows.mates[first:end],
        log10=rows.log10[first:end],
        precision=rows.precision[first:end],
        reads=None if rows.reads is None else rows.reads[first:end],
    )
