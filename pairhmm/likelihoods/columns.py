"""Likelihood tables and their companions as Arrow record batches, made of the arrays of many regions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.likelihoods.table import COLUMNS, HAPLOTYPE_COLUMNS
from pairhmm.models.batch import PRECISIONS
from pairhmm.sequences.arrays import Names

if TYPE_CHECKING:
    from pairhmm._cpu import ScoredRegions


def score_schema() -> Any:
    """The ``pyarrow.Schema`` of a table."""
    import pyarrow as arrow

    text, number, coded = arrow.string(), arrow.int64(), arrow.dictionary(arrow.int32(), arrow.string())
    types = (coded, coded, number, number, text, arrow.int8(), coded, arrow.float64(), coded, arrow.int32())
    return _schema(zip(COLUMNS, types, strict=True))


def haplotype_schema() -> Any:
    """The ``pyarrow.Schema`` of a companion."""
    import pyarrow as arrow

    text, number = arrow.string(), arrow.int64()
    coded = arrow.dictionary(arrow.int32(), text)
    types = (coded, number, number, text, text, text, text, arrow.int8())
    return _schema(zip(HAPLOTYPE_COLUMNS, types, strict=True))


def _schema(fields: Iterable[tuple[str, Any]]) -> Any:
    """No value is missing. Where some might be, pyarrow takes a quarter more time to write."""
    import pyarrow as arrow

    return arrow.schema([arrow.field(name, kind, nullable=False) for name, kind in fields])


@dataclass(frozen=True, slots=True)
class RegionRows:
    """The rows of several regions as columns. Native code has them in this order.

    Attributes
    ----------
    samples : sequence of str
    start, end, reads, haplotypes : int64 (regions,)
        Places, and how many reads and haplotypes there are.
    chrom, variants : Names
        Of each region; its variants as ``pos:ref>alt[/alt]`` (1-based), comma-separated.
    names, sequences, alleles, nuisance
        Of each haplotype.
    sample, read_names, mate
        Of each read.
    log10, precision
        Of each pair.
    members : int64 (reads,)
        The number of reads of each profile: 1 where none were joined.
    """

    samples: Sequence[str]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    reads: NDArray[np.int64]
    haplotypes: NDArray[np.int64]
    chrom: Names
    variants: Names
    names: Names
    sequences: Names
    alleles: Names
    nuisance: NDArray[np.uint8]
    sample: NDArray[np.int32]
    read_names: Names
    mate: NDArray[np.uint8]
    log10: NDArray[np.float64]
    precision: NDArray[np.uint8]
    members: NDArray[np.int64]

    @classmethod
    def of_scored(
        cls, regions: ScoredRegions, samples: Sequence[str], floor: float | None, is_prepared: bool
    ) -> RegionRows:
        """Those of scored regions. The last two parameters are those of `pairhmm.likelihoods.lines.region_lines`."""
        given: tuple[Any, ...] = regions.table_columns(list(samples), list(PRECISIONS), is_prepared, floor)
        columns: list[Any] = [Names(*one) if isinstance(one, tuple) else one for one in given]
        return cls(samples, *columns)


def score_batch(rows: RegionRows) -> Any:
    """The ``pyarrow.RecordBatch`` of the pairs of some regions. Names of reads are codes, too."""
    # Each read has all haplotypes of its region, in order.
    of_read = np.repeat(rows.haplotypes, rows.reads)
    first_haplotype = np.repeat(np.cumsum(rows.haplotypes) - rows.haplotypes, rows.reads)
    first_pair = np.cumsum(of_read) - of_read
    haplotype = np.arange(len(rows.log10)) + np.repeat(first_haplotype - first_pair, of_read)
    columns: list[NDArray[Any] | _Coded] = [
        _Coded(np.repeat(rows.sample, of_read), rows.samples),
        *_places(rows, rows.reads * rows.haplotypes),
        _Coded(np.repeat(np.arange(len(rows.read_names), dtype=np.int32), of_read), rows.read_names),
        np.repeat(rows.mate.astype(np.int8), of_read),
        _Coded(haplotype.astype(np.int32), rows.names),
        rows.log10,
        _Coded(rows.precision.astype(np.int32), PRECISIONS),
        np.repeat(rows.members.astype(np.int32), of_read),
    ]
    return _batch(columns, score_schema())


def haplotype_batch(rows: RegionRows) -> Any:
    """The ``pyarrow.RecordBatch`` of the haplotypes of some regions."""
    variants = rows.variants.at(np.repeat(np.arange(len(rows.haplotypes)), rows.haplotypes))
    texts = rows.names, rows.sequences, rows.alleles, variants
    return _batch([*_places(rows, rows.haplotypes), *texts, rows.nuisance.astype(np.int8)], haplotype_schema())


@dataclass(frozen=True, slots=True)
class _Coded:
    """Texts as codes: int32[rows], indices into `names`."""

    codes: NDArray[np.int32]
    names: Sequence[str] | Names


def _places(rows: RegionRows, count: NDArray[np.int64]) -> list[_Coded | NDArray[np.int64]]:
    """The columns of contig, start and end, where each region has so many rows."""
    contigs: dict[str, int] = {}
    codes = np.array([contigs.setdefault(chrom, len(contigs)) for chrom in rows.chrom], dtype=np.int32)
    return [_Coded(np.repeat(codes, count), list(contigs)), np.repeat(rows.start, count), np.repeat(rows.end, count)]


def _batch(columns: Sequence[NDArray[Any] | Names | _Coded], schema: Any) -> Any:
    """Columns as a record batch, without a Python object for each value.

    ``pyarrow.array`` takes lists, which is slow. On its first call it also imports pandas where that is installed,
    which takes as long as writing a million rows.
    """
    import pyarrow as arrow

    def array(column: NDArray[Any] | Names | _Coded, kind: Any) -> Any:
        if isinstance(column, _Coded):
            names = column.names if isinstance(column.names, Names) else Names.of(list(column.names))
            return arrow.DictionaryArray.from_arrays(array(column.codes, arrow.int32()), array(names, arrow.string()))
        if isinstance(column, Names):
            offset = column.offset.astype(np.int32)
            return arrow.StringArray.from_buffers(len(column), arrow.py_buffer(offset), arrow.py_buffer(column.text))
        return arrow.Array.from_buffers(kind, len(column), [None, arrow.py_buffer(np.ascontiguousarray(column))])

    arrays = [array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return arrow.RecordBatch.from_arrays(arrays, schema.names)
