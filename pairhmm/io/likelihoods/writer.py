"""Writes likelihood tables and their companions: TSV, bgzipped TSV with a tabix index, or zstd Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from pairhmm.io.files import parquet
from pairhmm.io.files.bgzip import BgzipText, index_table
from pairhmm.io.files.endings import TABIX_INDICES, require_ending
from pairhmm.io.files.names import printable
from pairhmm.io.files.outputs import TextSink, is_device, open_output, output_errors, whole_files
from pairhmm.io.files.standard_streams import STDOUT
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


class LikelihoodWriter(Protocol):
    """The interface of the writers of all formats."""

    def write(self, rows: LikelihoodRows) -> None:
        """Append the rows of a region."""


@contextmanager
def open_likelihoods(
    destination: str | Path, model: str = DEFAULT_MODEL, are_joined: bool = False
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

    Raises
    ------
    InputError
        Where the destination can't be written or has another extension, and for Parquet without pyarrow.
    """
    path = str(destination)
    require_ending(path, "tables", ENDINGS)
    if path == STDOUT or is_device(path):
        with open_output(path) as table:
            yield _TextWriter(table, None, model, are_joined)
    elif path.endswith(parquet.ENDING):
        arrow = parquet.pyarrow_for(path)
        with whole_files(path) as table, whole_files(companion(path)) as haplotypes:
            with output_errors(path):
                writer = _ParquetWriter(arrow, table, haplotypes, model, are_joined)
                try:
                    yield writer
                finally:
                    writer.close()
    elif path.endswith(".gz"):
        with whole_files(path, *TABIX_INDICES) as table, whole_files(companion(path), *TABIX_INDICES) as haplotypes:
            with output_errors(path):
                with BgzipText(table) as text, BgzipText(haplotypes) as described:
                    rows = _TextWriter(text, described, model, are_joined)
                    yield rows
                index_table(table, COLUMNS.index("chrom"), rows.furthest)
                index_table(haplotypes, HAPLOTYPE_COLUMNS.index("chrom"), rows.furthest)
    else:
        # The table is the inner file, so that the error for a full disk names it.
        with open_output(companion(path)) as described, open_output(path) as text:
            yield _TextWriter(text, described, model, are_joined)


def _columns(are_joined: bool) -> tuple[str, ...]:
    return (*COLUMNS, READS_COLUMN) if are_joined else COLUMNS


class _TextWriter:
    def __init__(self, table: TextSink, haplotypes: TextSink | None, model: str, are_joined: bool) -> None:
        self._table, self._haplotypes = table, haplotypes
        self.furthest = 0
        # Programs take a table's first line for its header, so that of the default model stays there.
        if model != DEFAULT_MODEL:
            table.write(f"{MODEL_LINE}{printable(model)}\n")
        table.write("#" + "\t".join(_columns(are_joined)) + "\n")
        if haplotypes is not None:
            haplotypes.write("#" + "\t".join(HAPLOTYPE_COLUMNS) + "\n")

    def write(self, rows: LikelihoodRows) -> None:
        self.furthest = max(self.furthest, rows.end)
        place = f"{rows.chrom}\t{rows.start}\t{rows.end}"
        lines = []
        scores, precisions = rows.log10.tolist(), rows.precision.tolist()
        for i, (sample, name, mate) in enumerate(zip(rows.samples, rows.read_names, rows.mates, strict=True)):
            head = f"{sample}\t{place}\t{name}\t{mate}\t"
            tail = "\n" if rows.reads is None else f"\t{rows.reads[i]}\n"
            lines += [
                f"{head}{haplotype}\t{score:.6f}\t{PRECISIONS[precision]}{tail}"
                for haplotype, score, precision in zip(rows.haplotypes, scores[i], precisions[i], strict=True)
            ]
        self._table.write("".join(lines))
        if self._haplotypes is not None:
            described = zip(rows.haplotypes, rows.sequences, rows.alleles, rows.nuisances, strict=True)
            self._haplotypes.write(
                "".join(f"{place}\t{n}\t{s}\t{a}\t{rows.variants or '.'}\t{int(x)}\n" for n, s, a, x in described)
            )


class _ParquetWriter:
    def __init__(self, arrow: ModuleType, table: Path, haplotypes: Path, model: str, are_joined: bool) -> None:
        text, number = arrow.string(), arrow.int64()
        coded = arrow.dictionary(arrow.int32(), text)
        types = [coded, coded, number, number, text, arrow.int8(), coded, arrow.float64(), coded]
        types += [arrow.int32()] if are_joined else []
        described = (coded, number, number, text, text, text, text, arrow.int8())
        columns = list(zip(_columns(are_joined), types, strict=True))
        self._table = parquet.RowGroups(arrow, table, columns, {MODEL_KEY: model})
        self._haplotypes = parquet.RowGroups(arrow, haplotypes, list(zip(HAPLOTYPE_COLUMNS, described, strict=True)))

    def write(self, rows: LikelihoodRows) -> None:
        reads, haplotypes = rows.log10.shape
        pairs = reads * haplotypes
        each, width = range(reads), range(haplotypes)
        columns: list[list[Any]] = [
            [rows.samples[i] for i in each for _ in width],
            [rows.chrom] * pairs,
            [rows.start] * pairs,
            [rows.end] * pairs,
            [rows.read_names[i] for i in each for _ in width],
            [int(rows.mates[i]) for i in each for _ in width],
            rows.haplotypes * reads,
            rows.log10.reshape(-1).tolist(),
            [PRECISIONS[code] for code in rows.precision.reshape(-1).tolist()],
        ]
        if rows.reads is not None:
            columns.append([int(rows.reads[i]) for i in each for _ in width])
        self._table.append(columns)
        place: list[list[Any]] = [[rows.chrom] * haplotypes, [rows.start] * haplotypes, [rows.end] * haplotypes]
        described = [rows.haplotypes, rows.sequences, rows.alleles, [rows.variants] * haplotypes]
        self._haplotypes.append([*place, *described, [int(one) for one in rows.nuisances]])

    def close(self) -> None:
        self._table.close()
        self._haplotypes.close()
