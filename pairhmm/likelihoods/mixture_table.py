"""The table of the haplotypes of mixtures: TSV, bgzipped TSV with a tabix index, or zstd Parquet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pysam

from pairhmm.files.bgzip import BgzipText
from pairhmm.files.formats import TABIX_INDICES, require_ending
from pairhmm.files.outputs import open_output, output_errors, whole_files
from pairhmm.likelihoods import parquet
from pairhmm.likelihoods.table import TABLE_ENDINGS, Format

MIXTURE_COLUMNS = {
    "sample": str,
    "chrom": str,
    "start": int,
    "end": int,
    "haplotype": str,
    "sequence": str,
    "variants": str,
    "fraction": float,
    "low": float,
    "high": float,
    "quality": float,
    "reads": int,
}
"""The columns of the table, and the types of their values."""

_HEADER = "#" + "\t".join(MIXTURE_COLUMNS) + "\n"


class MixtureTable(NamedTuple):
    """Takes lines of the table."""

    append: Callable[[str], object]


@contextmanager
def open_haplotypes(path: str | None) -> Iterator[MixtureTable]:
    """Open a table, of the format of the path's extension. Without a path, lines go nowhere.

    The files appear when the block ends well. Raises InputError for another extension, where the path can't be written,
    and for Parquet without pyarrow.
    """
    if path is None:
        yield MixtureTable(lambda lines: None)
        return
    require_ending(path, "tables", TABLE_ENDINGS)
    file_format = Format.of(path)
    if file_format is Format.PARQUET:
        parquet.pyarrow_for(path)
        with whole_files(path) as scratch, output_errors(path):
            rows = parquet.RowGroups(scratch, mixture_schema(), {})
            try:
                yield MixtureTable(lambda lines: rows.append(_batch(lines)))
            finally:
                rows.close()
    elif file_format is Format.TSV_GZ:
        with whole_files(path, *TABIX_INDICES) as scratch, output_errors(path):
            yield from _zipped(scratch)
    else:
        with open_output(path) as out:
            out.write(_HEADER)
            yield MixtureTable(out.write)


def _zipped(scratch: Path) -> Iterator[MixtureTable]:
    with BgzipText(scratch) as out:
        out.write(_HEADER)
        yield MixtureTable(out.write)
    pysam.tabix_index(str(scratch), seq_col=1, start_col=2, end_col=3, zerobased=True, meta_char="#", force=True)


def mixture_schema() -> Any:
    """The schema of the table as Parquet."""
    import pyarrow as arrow

    kinds = {str: arrow.string(), int: arrow.int64(), float: arrow.float64()}
    return arrow.schema([arrow.field(name, kinds[kind], nullable=False) for name, kind in MIXTURE_COLUMNS.items()])


def _batch(lines: str) -> Any:
    import pyarrow as arrow

    rows = [line.split("\t") for line in lines.splitlines()]
    columns = [[kind(row[number]) for row in rows] for number, kind in enumerate(MIXTURE_COLUMNS.values())]
    schema = mixture_schema()
    return arrow.RecordBatch.from_arrays(list(map(arrow.array, columns, schema.types)), schema=schema)
