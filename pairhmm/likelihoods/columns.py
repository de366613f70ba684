"""Likelihood tables and their companions as Arrow record batches, made of the arrays of many regions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.likelihoods.table import COLUMNS, HAPLOTYPE_COLUMNS, READS_COLUMN, LikelihoodRows
from pairhmm.models.batch import PRECISIONS
from pairhmm.sequences.arrays import Names


def score_schema(are_joined: bool) -> Any:
    """The ``pyarrow.Schema`` of a table; with the column `READS_COLUMN` where reads are joined."""
    import pyarrow as arrow

    text, number, coded = arrow.string(), arrow.int64(), arrow.dictionary(arrow.int32(), arrow.string())
    types = (coded, coded, number, number, text, arrow.int8(), coded, arrow.float64(), coded)
    reads = [(READS_COLUMN, arrow.int32())] if are_joined else []
    return _schema([*zip(COLUMNS, types, strict=True), *reads])


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


def score_batch(regions: Sequence[LikelihoodRows]) -> Any:
    """The ``pyarrow.RecordBatch`` of the pairs of some regions, one at least. Names of reads are codes, too."""
    reads = np.array([len(region.read_names) for region in regions])
    haplotypes = np.array([len(region.haplotypes) for region in regions])
    # Each read has all haplotypes of its region, in order.
    of_read = np.repeat(haplotypes, reads)

    def of_reads(values: Iterable[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
        return np.repeat(np.concatenate(list(values)).astype(kind), of_read)

    names = Names.concatenate([region.read_names for region in regions])
    starts = np.cumsum(haplotypes) - haplotypes
    shapes = zip(starts.tolist(), (starts + haplotypes).tolist(), reads.tolist(), strict=True)
    haplotype = [np.tile(np.arange(first, end, dtype=np.int32), count) for first, end, count in shapes]
    columns = [
        _Coded(of_reads((region.sample for region in regions), np.int32), regions[0].samples),
        *_places(regions, reads * haplotypes),
        _Coded(np.repeat(np.arange(len(names), dtype=np.int32), of_read), names),
        of_reads((region.mates for region in regions), np.int8),
        _Coded(np.concatenate(haplotype), [name for region in regions for name in region.haplotypes]),
        np.concatenate([region.log10.reshape(-1) for region in regions]),
        _Coded(np.concatenate([region.precision.reshape(-1) for region in regions]).astype(np.int32), PRECISIONS),
    ]
    are_joined = regions[0].reads is not None
    if are_joined:
        columns.append(of_reads((region.reads for region in regions if region.reads is not None), np.int32))
    return _batch(columns, score_schema(are_joined))


def haplotype_batch(regions: Sequence[LikelihoodRows]) -> Any:
    """The ``pyarrow.RecordBatch`` of the haplotypes of some regions."""
    rows = np.array([len(region.haplotypes) for region in regions])
    texts = (
        chain.from_iterable(region.haplotypes for region in regions),
        chain.from_iterable(region.sequences for region in regions),
        chain.from_iterable(region.alleles for region in regions),
        (region.variants for region in regions for _ in region.haplotypes),
    )
    nuisances = np.array([is_nuisance for region in regions for is_nuisance in region.nuisances], dtype=np.int8)
    return _batch([*_places(regions, rows), *(Names.of(list(text)) for text in texts), nuisances], haplotype_schema())


@dataclass(frozen=True, slots=True)
class _Coded:
    """Texts as codes: int32[rows], indices into `names`."""

    codes: NDArray[np.int32]
    names: Sequence[str] | Names


def _places(regions: Sequence[LikelihoodRows], rows: NDArray[np.int64]) -> list[_Coded | NDArray[np.int64]]:
    """The columns of contig, start and end, where each region has so many rows."""
    contigs: dict[str, int] = {}
    codes = np.array([contigs.setdefault(region.chrom, len(contigs)) for region in regions], dtype=np.int32)
    edges = np.array([(region.start, region.end) for region in regions], dtype=np.int64)
    return [_Coded(np.repeat(codes, rows), list(contigs)), *(np.repeat(edges[:, at], rows) for at in (0, 1))]


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
