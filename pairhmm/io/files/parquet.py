"""What all readers and writers of Parquet share: loading pyarrow, its options, and errors of damaged files.

A file carries a checksum of its values (`pairhmm.io.files.parquet_sums`), and each page has a checksum of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from mmap import mmap
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError, PairhmmError
from pairhmm.io.files import parquet_footer
from pairhmm.io.files.arrow_arrays import arrow_array
from pairhmm.io.files.background import BackgroundWriter
from pairhmm.io.files.parquet_pages import PagedColumn, row_group
from pairhmm.io.files.parquet_sums import ColumnSums, number_sums
from pairhmm.io.files.runs import Runs
from pairhmm.io.files.thrift import Struct, struct_bytes


class Rows(Protocol):
    """Something that becomes rows: items with some rows each, such as regions."""

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows of each item: int64 (items,)."""

    @classmethod
    def concatenate(cls, parts: Sequence[Self], /) -> Self:
        """The items of several, one after the other."""

    def take(self, first: int, end: int, /) -> Self:
        """The items [first, end)."""

    def columns(self) -> Sequence[Any]:
        """The columns, as `arrow_array` takes them; or where values repeat, as `parquet_pages` does."""


T = TypeVar("T", bound=Rows)

ENDING = ".parquet"
ROWS_PER_GROUP = 1 << 17
"""Approximate number of rows in a Parquet row group."""
READING = {"page_checksum_verification": True, "pre_buffer": False}
"""Options of ``ParquetFile``."""
PLACE = ("chrom", "start", "end")
"""Columns by which rows are looked for."""
# Values that are encoded at once. The file does not depend on it.
_VALUES_AT_ONCE = 1 << 16
# What pyarrow and what reads its metadata may raise for damaged bytes, besides the errors that pyarrow names.
_UNFORESEEN = ArithmeticError, AssertionError, LookupError, RuntimeError, SystemError, TypeError, ValueError
# Bytes of memory that pyarrow's libraries take when they are loaded, with a little to work with.
_ARROW_ROOM = 128 << 20


def pyarrow_for(path: str) -> ModuleType:
    """Load pyarrow, or raise an error that says what `path` needs.

    Raises
    ------
    InputError
        Where pyarrow is not installed.
    PairhmmError
        Where pyarrow is installed but does not load, mostly because memory is short.
    """
    if find_spec("pyarrow") is None:
        raise InputError(path, "", "Parquet needs pyarrow", "pip install 'pairhmm[parquet]', or write .tsv.gz")
    # Arrow's own allocators and threads reserve hundreds of megabytes. If memory is short, they end the process or wait
    # for ever, and so does the loading of the library.
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


def writing(arrow: ModuleType, schema: Any) -> dict[str, Any]:
    """Options of ``ParquetWriter``. With checksums, a damaged page is not read as other numbers.

    Numbers with a fraction hardly repeat: with a dictionary they take longer, and are larger. The least and the largest
    value of a row group help those who look for places. Of other columns, they cost a third of the time for nothing.
    """
    return {
        "compression": "zstd",
        "write_page_checksum": True,
        "use_dictionary": [field.name for field in schema if not arrow.types.is_floating(field.type)],
        "write_statistics": [name for name in schema.names if name in PLACE],
        "write_batch_size": _VALUES_AT_ONCE,
    }


@contextmanager
def damage_errors(arrow: ModuleType, path: str) -> Iterator[None]:
    """Turn pyarrow's errors of damaged files into an `InputError`. A lack of memory stays a MemoryError."""
    try:
        yield
    except MemoryError:
        raise
    except (arrow.ArrowException, OSError, *_UNFORESEEN) as error:
        raise InputError(path, "", "can't be read as Parquet", "it may be cut off or damaged: make it again") from error


@dataclass(frozen=True, slots=True)
class EncodedRows:
    """A row group that was encoded apart, maybe in another process.

    Attributes
    ----------
    body : bytes
        The row group. Its place is that in a file without other row groups.
    groups : list of Struct
        Its part of a footer.
    rows : int
    sums : ColumnSums
    """

    body: bytes
    groups: list[Struct]
    rows: int
    sums: ColumnSums


class Table(Generic[T]):
    """The columns of a Parquet file.

    Parameters
    ----------
    arrow : module
        From `pyarrow_for`.
    fields : list of (str, pyarrow.DataType)
        Names and types of the columns.
    kind : type
        What becomes rows.
    """

    def __init__(self, arrow: ModuleType, fields: list[tuple[str, Any]], kind: type[T]) -> None:
        self._arrow, self._kind = arrow, kind
        self._schema = arrow.schema(fields)

    def sums(self) -> ColumnSums:
        """Those of no rows."""
        return ColumnSums(self._schema)

    def encoded(self, parts: Sequence[T]) -> EncodedRows:
        """A row group."""
        columns = self._kind.concatenate(parts).columns()
        if any(isinstance(column, Runs) for column in columns):
            return self._paged(columns, sum(int(part.rows.sum()) for part in parts))
        fields = zip(columns, self._schema, strict=True)
        arrays = [arrow_array(self._arrow, values, field.type) for values, field in fields]
        rows, sums = self._arrow.Table.from_arrays(arrays, schema=self._schema), self.sums()
        sums.add(rows)
        body, footer = parquet_footer.split(self._file(rows))
        return EncodedRows(bytes(body), *parquet_footer.row_groups(footer), sums)

    def footer(self) -> Struct:
        """That of a file without rows."""
        return parquet_footer.split(self._file(None))[1]

    def _file(self, rows: Any) -> bytes:
        """A file as pyarrow writes it."""
        from pyarrow import parquet

        sink = self._arrow.BufferOutputStream()
        with parquet.ParquetWriter(sink, self._schema, **writing(self._arrow, self._schema)) as file:
            if rows is not None:
                file.write_table(rows, row_group_size=max(1, len(rows)))
        made: bytes = sink.getvalue().to_pybytes()
        return made

    def _paged(self, columns: Sequence[PagedColumn], rows: int) -> EncodedRows:
        sums = self.sums()
        for name, column in zip(self._schema.names, columns, strict=True):
            sums.add_sums(name, number_sums(column) if isinstance(column, np.ndarray) else column.sums())
        codec = self._arrow.Codec("zstd")
        body, group = row_group(self._schema.names, columns, rows, PLACE, partial(codec.compress, asbytes=True))
        return EncodedRows(body, [group], rows, sums)


class RowGroups(Generic[T]):
    """A Parquet file, written in groups of many rows. A row group for each region would cost more than the rows.

    An item of many rows is a row group of its own: so it may be encoded before it is known what stands before it.

    Parameters
    ----------
    path : Path
    table : Table
    metadata : mapping of str to str, optional
        Key-value metadata of the file.
    threads : int
        With two or more, row groups are made and written in a thread of their own.
    """

    def __init__(
        self, path: Path, table: Table[T], metadata: Mapping[str, str] | None = None, threads: int = 1
    ) -> None:
        self._table, self._metadata = table, dict(metadata or {})
        self._out = open(path, "wb")  # noqa: SIM115 (close closes it)
        self._held: list[T] = []
        self._rows = 0
        # Counted, since a pipe does not tell.
        self._size = len(parquet_footer.MAGIC)
        self._behind = BackgroundWriter(threads)
        self._sums, self._like = table.sums(), table.footer()
        # Written at once: all of them at the end would take a while.
        self._groups: list[bytes] = []
        self._written_rows = 0
        self._out.write(parquet_footer.MAGIC)

    def append(self, part: T | EncodedRows) -> None:
        """Append items. A row group ends with the item that fills it, however items are divided into parts."""
        if isinstance(part, EncodedRows):
            self._flush()
            self._behind.run(lambda: self._write(part))
            return
        ends = np.concatenate([[0], np.cumsum(part.rows)])
        is_large = part.rows >= ROWS_PER_GROUP
        first, items = 0, len(ends) - 1
        while first < items:
            if is_large[first]:
                self._flush()
                end = first + 1
            else:
                room = ROWS_PER_GROUP - self._rows
                end = min(int(np.searchsorted(ends[1:], ends[first] + room)) + 1, items)
                if is_large[first:end].any():
                    end = first + int(is_large[first:end].argmax())
            self._held.append(part.take(first, end) if (first, end) != (0, items) else part)
            self._rows += int(ends[end] - ends[first])
            if self._rows >= ROWS_PER_GROUP:
                self._flush()
            first = end

    def close(self) -> None:
        """Write the rows that are still held, and the footer with the checksum."""
        try:
            with self._behind:
                self._flush()
            metadata = self._metadata | self._sums.metadata()
            self._out.write(parquet_footer.footer_bytes(self._like, self._groups, self._written_rows, metadata))
        finally:
            self._out.close()

    def _flush(self) -> None:
        if self._held:
            held, self._held, self._rows = self._held, [], 0
            self._behind.run(lambda: self._write(self._table.encoded(held)))

    def _write(self, group: EncodedRows) -> None:
        parquet_footer.move(group.groups, self._size - len(parquet_footer.MAGIC), len(self._groups))
        self._out.write(group.body)
        self._size += len(group.body)
        self._groups += map(struct_bytes, group.groups)
        self._written_rows += group.rows
        self._sums.join(group.sums)


def checked_batches(arrow: ModuleType, path: str, file: Any, rows: int) -> Iterator[Any]:
    """All rows of a ``ParquetFile`` in batches of at most so many. Errors of reading name this file.

    Raises
    ------
    InputError
        For a damaged file, and, after the last batch, where the values do not match the checksum that the file carries.
    """
    batches = file.iter_batches(rows, use_threads=False)
    sums = ColumnSums(file.schema_arrow)
    while True:
        with damage_errors(arrow, path):
            batch = next(batches, None)
            if batch is not None:
                sums.add(batch)
        if batch is None:
            sums.compare(path, file)
            return
        yield batch
