"""Writes likelihood tables and their companions: TSV, bgzipped TSV with a tabix index, or zstd Parquet."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from pairhmm.io.files import parquet
from pairhmm.io.files.bgzip import BgzipText, PackedText
from pairhmm.io.files.descriptors import STDOUT, is_device
from pairhmm.io.files.formats import TABIX_INDICES, require_ending
from pairhmm.io.files.names import printable
from pairhmm.io.files.outputs import ByteSink, open_binary_output, output_errors, whole_files
from pairhmm.io.files.tabix import TableIndex
from pairhmm.io.likelihoods.columns import Described, ScoreColumns
from pairhmm.io.likelihoods.lines import DEEP, Lines, lines_of
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

log = logging.getLogger(__name__)

Prepare = Callable[[Iterable[LikelihoodRows]], Iterator[Any]]

# Rows of a region that are made to Parquet columns at once.
_PAIRS_AT_ONCE = 1 << 20
# Rows and regions that are packed at once.
_ROWS_AT_ONCE, _REGIONS_AT_ONCE = 1 << 16, 500


class LikelihoodWriter(Protocol):
    """The interface of the writers of all formats."""

    def write(self, rows: LikelihoodRows) -> None:
        """Append the rows of a region."""

    def append(self, prepared: Any) -> None:
        """Append what the function that `preparation` gives made of regions."""


@dataclass(frozen=True, slots=True)
class _Preparation:
    """Prepares the rows of regions for a file. A worker process also encodes deep regions: the bytes are the same."""

    path: str
    are_joined: bool

    def __call__(self, regions: Iterable[LikelihoodRows]) -> Iterator[Any]:
        # Only workers have it, and a run without any need not load it.
        processes = sys.modules.get("multiprocessing")
        is_worker = processes is not None and processes.parent_process() is not None
        if self.path.endswith(parquet.ENDING):
            arrow = parquet.pyarrow_for(self.path) if is_worker else None
            return _packed(regions, None if arrow is None else _score_table(arrow, self.are_joined))
        is_packed = is_worker and self.path.endswith(".gz")
        return map(_with_packed_table, lines_of(regions)) if is_packed else lines_of(regions)


def preparation(destination: str | Path, are_joined: bool = False) -> Prepare:
    """A function that prepares the rows of regions for a writer, in this process or in another.

    It gets rows, and gives what `LikelihoodWriter.append` takes. It can be pickled, and so can its results.
    """
    return _Preparation(str(destination), are_joined)


def _packed(
    regions: Iterable[LikelihoodRows], table: parquet.Table[ScoreColumns] | None
) -> Iterator[tuple[ScoreColumns | parquet.EncodedRows, Described | None]]:
    """The arrays of regions, those of several together. With a table, deep regions are encoded."""
    held: list[LikelihoodRows] = []
    rows = 0
    for region in regions:
        if table is not None and region.log10.size >= DEEP:
            if held:
                yield _pack(held)
                held, rows = [], 0
            scores = [ScoreColumns.of([part]) for part in _parts(region)]
            described: list[Described | None] = [Described.of([region]), *[None] * (len(scores) - 1)]
            for one, haplotypes in zip(scores, described, strict=True):
                yield table.encoded([one]) if len(one.log10) >= DEEP else one, haplotypes
            continue
        held.append(region)
        rows += region.log10.size
        if rows >= _ROWS_AT_ONCE or len(held) == _REGIONS_AT_ONCE:
            yield _pack(held)
            held, rows = [], 0
    if held:
        yield _pack(held)


def _pack(regions: list[LikelihoodRows]) -> tuple[ScoreColumns, Described]:
    return ScoreColumns.of([part for region in regions for part in _parts(region)]), Described.of(regions)


def _with_packed_table(lines: Lines) -> Lines:
    if not _are_deep(lines) or isinstance(lines.table, PackedText):
        return lines
    return replace(lines, table=PackedText.of(lines.table))


def _are_deep(lines: Lines) -> bool:
    """Whether these are the lines of a deep region, which are blocks of their own in a bgzipped table."""
    return len(lines.in_table) == 1 and lines.in_table[0].rows >= DEEP


@contextmanager
def open_likelihoods(
    destination: str | Path, model: str = DEFAULT_MODEL, are_joined: bool = False, threads: int = 1
) -> Iterator[LikelihoodWriter]:
    """Open a writer, of the format of the destination's extension.

    ``.tsv.gz`` and ``.gz`` are bgzipped, ``.parquet`` is Parquet, all else is TSV; ``-`` is stdout. The companion is
    written beside the table as ``NAME.haplotypes.EXT``; stdout, pipes and devices get none. The files appear when the
    block ends well. Where reads are joined (`are_joined`), the table has the column `READS_COLUMN`.

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
    if path.endswith(parquet.ENDING):
        arrow = parquet.pyarrow_for(path)
        with whole_files(path) as table, _haplotypes_of(path) as haplotypes:
            with output_errors(path):
                writer = _ParquetWriter(arrow, table, haplotypes, model, are_joined, threads)
                try:
                    yield writer
                finally:
                    writer.close()
    elif path.endswith(".gz"):
        with whole_files(path, *TABIX_INDICES) as table, _haplotypes_of(path, *TABIX_INDICES) as haplotypes:
            with output_errors(path), ExitStack() as stack:
                text = stack.enter_context(BgzipText(table, threads))
                described = None if haplotypes is None else stack.enter_context(BgzipText(haplotypes))
                indices = _Indices(text, described)
                yield _TextWriter(text, described, model, are_joined, indices)
                stack.close()
                indices.write(table, haplotypes)
    elif path == STDOUT or is_device(path):
        if path != STDOUT:
            _tell_of_no_companion(path)
        with open_binary_output(path) as out:
            yield _TextWriter(out, None, model, are_joined)
    else:
        # The table is the inner file, so that the error for a full disk names it.
        with open_binary_output(companion(path)) as beside, open_binary_output(path) as out:
            yield _TextWriter(out, beside, model, are_joined)


@contextmanager
def _haplotypes_of(path: str, *indices: str) -> Iterator[Path | None]:
    """A path for the companion of a table; None for a pipe or a device, which has none."""
    if is_device(path):
        _tell_of_no_companion(path)
        yield None
        return
    with whole_files(companion(path), *indices) as haplotypes:
        yield haplotypes


def _tell_of_no_companion(path: str) -> None:
    log.warning("%s is not a regular file: no table of haplotypes is written beside it", path)


def _columns(are_joined: bool) -> tuple[str, ...]:
    return (*COLUMNS, READS_COLUMN) if are_joined else COLUMNS


class _Indices:
    """The indices of a bgzipped table and of its companion."""

    def __init__(self, table: BgzipText, haplotypes: BgzipText | None) -> None:
        self._table = TableIndex(table, COLUMNS.index("chrom"))
        self._haplotypes = None if haplotypes is None else TableIndex(haplotypes, HAPLOTYPE_COLUMNS.index("chrom"))

    def add(self, lines: Lines) -> None:
        """Take lines that were just written."""
        self._table.add_spans(lines.in_table)
        if self._haplotypes is not None:
            self._haplotypes.add_spans(lines.in_haplotypes)

    def write(self, table: Path, haplotypes: Path | None) -> None:
        self._table.write(table)
        if self._haplotypes is not None and haplotypes is not None:
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

    def write(self, rows: LikelihoodRows) -> None:
        for lines in lines_of([rows]):
            self.append(lines)

    def append(self, prepared: Lines) -> None:
        if isinstance(self._table, BgzipText) and _are_deep(prepared):
            self._table.write_apart(prepared.table)
        else:
            assert isinstance(prepared.table, bytes)
            self._table.write(prepared.table)
        if self._haplotypes is not None:
            self._haplotypes.write(prepared.haplotypes)
        if self._indices is not None:
            self._indices.add(prepared)


def _header(columns: Sequence[str]) -> bytes:
    return ("#" + "\t".join(columns) + "\n").encode()


class _ParquetWriter:
    def __init__(
        self, arrow: ModuleType, table: Path, haplotypes: Path | None, model: str, are_joined: bool, threads: int
    ) -> None:
        self._table = parquet.RowGroups(table, _score_table(arrow, are_joined), {MODEL_KEY: model}, threads)
        text, number = arrow.string(), arrow.int64()
        described = (_coded(arrow), number, number, text, text, text, text, arrow.int8())
        columns = list(zip(HAPLOTYPE_COLUMNS, described, strict=True))
        described_table = parquet.Table(arrow, columns, Described)
        self._haplotypes = None if haplotypes is None else parquet.RowGroups(haplotypes, described_table)

    def write(self, rows: LikelihoodRows) -> None:
        self.append(_pack([rows]))

    def append(self, prepared: tuple[ScoreColumns | parquet.EncodedRows, Described | None]) -> None:
        scores, described = prepared
        self._table.append(scores)
        if described is not None and self._haplotypes is not None:
            self._haplotypes.append(described)

    def close(self) -> None:
        try:
            self._table.close()
        finally:
            if self._haplotypes is not None:
                self._haplotypes.close()


def _coded(arrow: ModuleType) -> Any:
    return arrow.dictionary(arrow.int32(), arrow.string())


def _score_table(arrow: ModuleType, are_joined: bool) -> parquet.Table[ScoreColumns]:
    text, number, coded = arrow.string(), arrow.int64(), _coded(arrow)
    types = [coded, coded, number, number, text, arrow.int8(), coded, arrow.float64(), coded]
    types += [arrow.int32()] if are_joined else []
    return parquet.Table(arrow, list(zip(_columns(are_joined), types, strict=True)), ScoreColumns)


def _parts(rows: LikelihoodRows) -> Iterator[LikelihoodRows]:
    """The rows of a region, in parts whose columns have room in memory and in Arrow's arrays."""
    reads, haplotypes = rows.log10.shape
    step = max(1, _PAIRS_AT_ONCE // max(1, haplotypes))
    if reads <= step:
        yield rows
        return
    for first in range(0, reads, step):
        end = min(first + step, reads)
        yield replace(
            rows,
            sample=rows.sample[first:end],
            read_names=rows.read_names.take(first, end),
            mates=rows.mates[first:end],
            log10=rows.log10[first:end],
            precision=rows.precision[first:end],
            reads=None if rows.reads is None else rows.reads[first:end],
        )
