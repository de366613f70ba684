"""The likelihood table: one row a (read, haplotype), and a companion that describes each haplotype.

One schema in three forms: TSV to a pipe or a plain file, bgzipped TSV with a tabix index, and zstd Parquet.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from mmap import mmap
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np
import pysam
from numpy.typing import NDArray

from pairhmm.errors import InputError, PairhmmError
from pairhmm.interface.display import short_repr
from pairhmm.io.files.bgzip import LONGEST_FOR_TBI, BgzipText
from pairhmm.io.files.endings import require_ending
from pairhmm.io.files.outputs import STDOUT, TextSink, is_device, open_output, output_errors, whole_files
from pairhmm.io.files.parquet_sums import ColumnSums
from pairhmm.models.batch import PRECISIONS

COLUMNS = ("sample", "chrom", "start", "end", "read_name", "mate", "haplotype", "log10_likelihood", "precision")
ROWS_PER_GROUP = 1 << 17
"""Rows of a Parquet row group, about."""
PARQUET_WRITING = {"compression": "zstd", "write_page_checksum": True}
"""How Parquet is written, wherever it is: a damaged page must not be read as other numbers."""
PARQUET_READING = {"page_checksum_verification": True, "pre_buffer": False}
"""How Parquet is read, wherever it is."""
HAPLOTYPE_COLUMNS = ("chrom", "start", "end", "haplotype", "sequence", "alleles", "variants", "nuisance")
ENDINGS = (".tsv", ".tsv.gz", ".gz", ".parquet")
INDICES = (".tbi", ".csi")
# Bytes that pyarrow's libraries take when they are loaded, and a little to work with.
_ARROW_ROOM = 128 << 20


@dataclass(frozen=True, slots=True)
class LikelihoodRows:
    """The rows of one region, in the order that they are written in.

    Attributes
    ----------
    chrom : str
    start, end : int
        0-based half-open.
    samples, read_names : list of str
        One a read.
    mates : sequence of int
        1 or 2; 0 for a read without a mate.
    haplotypes : list of str
        Names, such as ``chr1:100-250/0``.
    sequences : list of str
    alleles : list of str
        Allele of each variant on each haplotype, comma-separated; 0 is the reference.
    variants : str
        ``pos:ref>alt[/alt]`` of the region's variants (1-based), comma-separated.
    nuisances : list of bool
        Whether each haplotype has an allele that is not listed (`pairhmm.genomics.haplotypes.Haplotype.is_nuisance`).
    log10 : float64[reads, haplotypes]
    precision : uint8[reads, haplotypes]
    """

    chrom: str
    start: int
    end: int
    samples: list[str]
    read_names: list[str]
    mates: Sequence[int]
    haplotypes: list[str]
    sequences: list[str]
    alleles: list[str]
    variants: str
    nuisances: list[bool]
    log10: NDArray[np.float64]
    precision: NDArray[np.uint8]

    __repr__ = short_repr


class LikelihoodWriter(Protocol):
    """What the forms have in common."""

    def write(self, rows: LikelihoodRows) -> None:
        """Append the rows of a region."""


@contextmanager
def open_likelihoods(destination: str | Path) -> Iterator[LikelihoodWriter]:
    """A writer by the destination's extension: ``.tsv.gz`` and ``.gz`` bgzip, ``.parquet``, else TSV; ``-`` is stdout.

    The companion stands beside it as ``NAME.haplotypes.EXT``; there is none for stdout and devices. The files appear
    when the block ends well.

    Raises
    ------
    InputError
        Where the destination can't be written or ends in something else, and for Parquet without pyarrow.
    """
    path = str(destination)
    require_ending(path, "tables", ENDINGS)
    if path == STDOUT or is_device(path):
        with open_output(path) as table:
            yield _TextWriter(table, None)
    elif path.endswith(".parquet"):
        arrow = pyarrow_for(path)
        with whole_files(path) as table, whole_files(companion(path)) as haplotypes:
            with output_errors(path):
                writer = _ParquetWriter(arrow, table, haplotypes)
                try:
                    yield writer
                finally:
                    writer.close()
    elif path.endswith(".gz"):
        with whole_files(path, *INDICES) as table, whole_files(companion(path), *INDICES) as haplotypes:
            with output_errors(path):
                with BgzipText(table) as text, BgzipText(haplotypes) as described:
                    rows = _TextWriter(text, described)
                    yield rows
                index_table(table, COLUMNS.index("chrom"), rows.furthest)
                index_table(haplotypes, HAPLOTYPE_COLUMNS.index("chrom"), rows.furthest)
    else:
        # The inner file is the one that a full disk is told of.
        with open_output(companion(path)) as described, open_output(path) as text:
            yield _TextWriter(text, described)


def companion(path: str) -> str:
    """Where the haplotypes of a likelihood table are described."""
    for ending in (".tsv.gz", ".tsv", ".parquet", ".gz"):
        if path.endswith(ending):
            return f"{path[: -len(ending)]}.haplotypes{'.tsv.gz' if ending == '.gz' else ending}"
    return f"{path}.haplotypes"


class _TextWriter:
    def __init__(self, table: TextSink, haplotypes: TextSink | None) -> None:
        self._table, self._haplotypes = table, haplotypes
        self.furthest = 0
        table.write("#" + "\t".join(COLUMNS) + "\n")
        if haplotypes is not None:
            haplotypes.write("#" + "\t".join(HAPLOTYPE_COLUMNS) + "\n")

    def write(self, rows: LikelihoodRows) -> None:
        self.furthest = max(self.furthest, rows.end)
        place = f"{rows.chrom}\t{rows.start}\t{rows.end}"
        lines = []
        scores, precisions = rows.log10.tolist(), rows.precision.tolist()
        for i, (sample, name, mate) in enumerate(zip(rows.samples, rows.read_names, rows.mates, strict=True)):
            head = f"{sample}\t{place}\t{name}\t{mate}\t"
            lines += [
                f"{head}{haplotype}\t{score:.6f}\t{PRECISIONS[precision]}\n"
                for haplotype, score, precision in zip(rows.haplotypes, scores[i], precisions[i], strict=True)
            ]
        self._table.write("".join(lines))
        if self._haplotypes is not None:
            described = zip(rows.haplotypes, rows.sequences, rows.alleles, rows.nuisances, strict=True)
            self._haplotypes.write(
                "".join(f"{place}\t{n}\t{s}\t{a}\t{rows.variants or '.'}\t{int(x)}\n" for n, s, a, x in described)
            )


class _ParquetWriter:
    def __init__(self, arrow: ModuleType, table: Path, haplotypes: Path) -> None:
        from pyarrow import parquet

        text, number = arrow.string(), arrow.int64()
        coded = arrow.dictionary(arrow.int32(), text)
        types = (coded, coded, number, number, text, arrow.int8(), coded, arrow.float64(), coded)
        described = (coded, number, number, text, text, text, text, arrow.int8())
        self._table = _RowGroups(arrow, parquet, table, list(zip(COLUMNS, types, strict=True)))
        self._haplotypes = _RowGroups(arrow, parquet, haplotypes, list(zip(HAPLOTYPE_COLUMNS, described, strict=True)))

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
        self._table.append(columns)
        place: list[list[Any]] = [[rows.chrom] * haplotypes, [rows.start] * haplotypes, [rows.end] * haplotypes]
        described = [rows.haplotypes, rows.sequences, rows.alleles, [rows.variants] * haplotypes]
        self._haplotypes.append([*place, *described, [int(one) for one in rows.nuisances]])

    def close(self) -> None:
        self._table.close()
        self._haplotypes.close()


class _RowGroups:
    """A Parquet file that is written in groups of rows: one a region would cost more than its rows."""

    def __init__(self, arrow: ModuleType, parquet: ModuleType, path: Path, fields: list[tuple[str, Any]]) -> None:
        self._arrow = arrow
        self._schema = arrow.schema(fields)
        self._file = parquet.ParquetWriter(str(path), self._schema, **PARQUET_WRITING)
        self._sums = ColumnSums(self._schema)
        self._columns: list[list[Any]] = [[] for _ in fields]

    def append(self, columns: list[list[Any]]) -> None:
        for held, new in zip(self._columns, columns, strict=True):
            held += new
        if len(self._columns[0]) >= ROWS_PER_GROUP:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._sums.write(self._file)
        self._file.close()

    def _flush(self) -> None:
        fields = zip(self._columns, self._schema, strict=True)
        arrays = [self._arrow.array(values, type=field.type) for values, field in fields]
        rows = self._arrow.Table.from_arrays(arrays, schema=self._schema)
        self._sums.add(rows)
        self._file.write_table(rows)
        self._columns = [[] for _ in self._columns]


def index_table(path: Path, first: int, furthest: int) -> None:
    """Index a table whose columns first, first + 1 and first + 2 are an interval, 0-based half-open."""
    csi = furthest > LONGEST_FOR_TBI
    pysam.tabix_index(
        str(path),
        force=True,
        seq_col=first,
        start_col=first + 1,
        end_col=first + 2,
        zerobased=True,
        meta_char="#",
        csi=csi,
    )


def pyarrow_for(path: str) -> ModuleType:
    """The library, or an error that says what `path` needs.

    Raises
    ------
    InputError
        Where it is not installed.
    PairhmmError
        Where it is there, and does not load: for want of memory, mostly.
    """
    if find_spec("pyarrow") is None:
        raise InputError(path, "", "Parquet needs pyarrow", "pip install 'pairhmm[parquet]', or write .tsv.gz")
    # Arrow's own allocators and threads reserve memory by the hundred megabytes; where there is none, they end the
    # process or wait for ever, and so does its loading.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    try:
        if "pyarrow" not in sys.modules:
            mmap(-1, _ARROW_ROOM).close()
        import pyarrow
        import pyarrow.parquet
    except OSError as error:
        raise PairhmmError(f"{path}: Parquet needs {_ARROW_ROOM >> 20} MB of memory more, or write .tsv.gz") from error
    except ImportError as error:
        why = " ".join(str(error).split())
        raise PairhmmError(f"{path}: pyarrow, which Parquet needs, does not load: {why}") from error
    module: ModuleType = pyarrow
    return module


@contextmanager
def parquet_errors(arrow: ModuleType, path: str) -> Iterator[None]:
    """Turn what pyarrow says of a damaged file into an `InputError`; want of memory stays what it is."""
    try:
        yield
    except MemoryError:
        raise
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(path, "", "can't be read as Parquet", "it may be cut off or damaged: make it again") from error
