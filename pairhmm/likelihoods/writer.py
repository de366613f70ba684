"""Writes likelihood tables and their companions: TSV, bgzipped TSV with a tabix index, or zstd Parquet."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pairhmm.files.bgzip import BgzipText
from pairhmm.files.descriptors import STDOUT, is_device
from pairhmm.files.formats import TABIX_INDICES, require_ending
from pairhmm.files.names import printable
from pairhmm.files.outputs import ByteSink, open_binary_output, output_errors, whole_files
from pairhmm.files.tabix import TableIndex
from pairhmm.likelihoods import parquet
from pairhmm.likelihoods.columns import RegionRows, haplotype_batch, haplotype_schema, score_batch, score_schema
from pairhmm.likelihoods.lines import Lines
from pairhmm.likelihoods.parquet import RowGroups, packed_batch, unpacked_batch
from pairhmm.likelihoods.table import (
    COLUMNS,
    DEFAULT_MODEL,
    ENDINGS,
    HAPLOTYPE_COLUMNS,
    MODEL_KEY,
    MODEL_LINE,
    Format,
    companion,
)

log = logging.getLogger(__name__)


class Batches(NamedTuple):
    """Rows of some regions for a Parquet table and for its companion, which has them once. Scores may be packed."""

    scores: Any
    haplotypes: Any

    @classmethod
    def of(cls, rows: RegionRows) -> Batches:
        """The rows of regions."""
        return cls(score_batch(rows), haplotype_batch(rows))

    def packed(self) -> Batches:
        """The same, with packed scores, which may wait in memory."""
        return self._replace(scores=packed_batch(self.scores))


Prepared = Lines | Batches
"""Rows of some regions, prepared for a file."""


@contextmanager
def open_likelihoods(
    destination: str | Path, model: str = DEFAULT_MODEL, threads: int = 1
) -> Iterator[_TextWriter | _ParquetWriter]:
    """Open a writer, of the format of the destination's extension.

    ``.tsv.gz`` and ``.gz`` are bgzipped, ``.parquet`` is Parquet, all else is TSV; ``-`` is stdout. The companion is
    written beside the table as ``NAME.haplotypes.EXT``; stdout, pipes and devices get none. The files appear when the
    block ends well.

    Raises InputError where the destination can't be written or has another extension, and for Parquet without pyarrow.

    `model`: the model and its parameters, as `pairhmm.calling.run_options.RunOptions.model_text` names them. `threads`:
    with two or more, rows are compressed and written while the caller makes the next ones.
    """
    path = str(destination)
    require_ending(path, "tables", ENDINGS)
    file_format = Format.of(path)
    if file_format is Format.PARQUET:
        parquet.pyarrow_for(path)
        with whole_files(path) as table, _haplotypes_of(path) as haplotypes:
            with output_errors(path):
                writer = _ParquetWriter(table, haplotypes, model, threads)
                try:
                    yield writer
                finally:
                    writer.close()
    elif file_format is Format.TSV_GZ:
        with whole_files(path, *TABIX_INDICES) as table, _haplotypes_of(path, *TABIX_INDICES) as haplotypes:
            with output_errors(path), ExitStack() as stack:
                text = stack.enter_context(BgzipText(table, threads))
                described = None if haplotypes is None else stack.enter_context(BgzipText(haplotypes))
                indices = _Indices(text, described)
                yield _TextWriter(text, described, model, indices)
                stack.close()
                indices.write(table, haplotypes)
    elif path == STDOUT or is_device(path):
        if path != STDOUT:
            _tell_of_no_companion(path)
        with open_binary_output(path) as out:
            yield _TextWriter(out, None, model)
    else:
        # The table is the inner file, so that the error for a full disk names it.
        with open_binary_output(companion(path)) as beside, open_binary_output(path) as out:
            yield _TextWriter(out, beside, model)


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


class _Indices:
    """The indices of a bgzipped table and of its companion."""

    def __init__(self, table: BgzipText, haplotypes: BgzipText | None) -> None:
        self._table = TableIndex(table, COLUMNS.index("chrom"))
        self._haplotypes = None if haplotypes is None else TableIndex(haplotypes, HAPLOTYPE_COLUMNS.index("chrom"))

    def add(self, lines: Lines) -> None:
        """Take lines that were just written."""
        self._table.add(*lines.in_table)
        if self._haplotypes is not None:
            self._haplotypes.add(*lines.in_haplotypes)

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
        indices: _Indices | None = None,
    ) -> None:
        self._table, self._haplotypes, self._indices = table, haplotypes, indices
        # Programs take a table's first line for its header, so that the companion names the model.
        table.write(_header(COLUMNS))
        if haplotypes is not None:
            haplotypes.write(f"{MODEL_LINE}{printable(model)}\n".encode() + _header(HAPLOTYPE_COLUMNS))

    def append(self, prepared: Prepared) -> None:
        assert isinstance(prepared, Lines)
        if isinstance(self._table, BgzipText) and prepared.are_deep:
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
    def __init__(self, table: Path, haplotypes: Path | None, model: str, threads: int) -> None:
        about = {MODEL_KEY: model}
        self._table = RowGroups(table, score_schema(), about, threads)
        self._haplotypes = None if haplotypes is None else RowGroups(haplotypes, haplotype_schema(), about)

    def append(self, prepared: Prepared) -> None:
        assert isinstance(prepared, Batches)
        scores = prepared.scores
        self._table.append(unpacked_batch(scores) if isinstance(scores, bytes) else scores)
        if self._haplotypes is not None:
            self._haplotypes.append(prepared.haplotypes)

    def close(self) -> None:
        try:
            self._table.close()
        finally:
            if self._haplotypes is not None:
                self._haplotypes.close()
