"""Parquet by pyarrow: loading it, its options, row groups, and errors of damaged files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from mmap import mmap
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError, PairhmmError
from pairhmm.files.background import BackgroundWriter
from pairhmm.sequences.arrays import Names

ROWS_PER_GROUP = 1 << 17
"""Rows in a Parquet row group."""
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


def packed_batch(batch: Any) -> bytes:
    """A record batch as compressed Arrow IPC: many may wait for the thread that writes."""
    from pyarrow import BufferOutputStream, ipc

    sink, options = BufferOutputStream(), ipc.IpcWriteOptions(compression="lz4", use_threads=False)
    with ipc.new_stream(sink, batch.schema, options=options) as out:
        out.write_batch(batch)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def unpacked_batch(packed: bytes) -> Any:
    """The record batch that was packed."""
    from pyarrow import ipc

    with ipc.open_stream(packed, options=ipc.IpcReadOptions(use_threads=False)) as stream:
        return stream.read_next_batch()


class RowGroups:
    """Writes a Parquet file. Its bytes depend on the rows, and not on the batches that they come in.

    `metadata`: key-value metadata of the file. `threads`: with two or more, row groups are written in a thread of their
    own.
    """

    def __init__(self, path: Path, schema: Any, metadata: Mapping[str, str], threads: int = 1) -> None:
        import pyarrow
        from pyarrow.parquet import ParquetWriter

        self._table, self._schema, self._metadata = pyarrow.Table, schema, dict(metadata)
        self._held: list[Any] = []
        self._rows = 0
        self._out = _Output(path)
        self._behind = BackgroundWriter(threads)
        self._writer = ParquetWriter(pyarrow.PythonFile(self._out, "w"), schema, **writing(pyarrow, schema))

    def append(self, batch: Any) -> None:
        """Append the rows of a record batch. Its texts may be codes where those of the file are none."""
        self._held.append(self._decoded(batch))
        self._rows += len(batch)
        while self._rows >= ROWS_PER_GROUP:
            self._write(ROWS_PER_GROUP)

    def close(self) -> None:
        """Write the rows that are still held, and the footer."""
        try:
            with self._behind:
                if self._rows:
                    self._write(self._rows)
            self._writer.add_key_value_metadata(self._metadata)
            self._writer.close()
        finally:
            self._out.close()

    def _decoded(self, batch: Any) -> Any:
        columns = [
            column if column.type == field.type else _texts(numbers_of(column.indices), column.dictionary)
            for column, field in zip(batch.columns, self._schema, strict=True)
        ]
        return type(batch).from_arrays(columns, schema=self._schema)

    def _write(self, rows: int) -> None:
        held = self._table.from_batches(self._held, self._schema)
        group, rest = held.slice(0, rows), held.slice(rows)
        self._held, self._rows = rest.to_batches(), len(rest)
        self._behind.run(lambda: self._writer.write_table(_canonical(group), row_group_size=rows))


class _Output:
    """A file for pyarrow, which asks how far it is: a pipe can't tell."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "wb")  # noqa: SIM115 (close closes it)
        self._size = 0
        # A writer that failed writes once more when it is freed.
        self.closed = False

    def write(self, data: bytes) -> None:
        if not self.closed:
            self._file.write(data)
            self._size += len(data)

    def flush(self) -> None:
        """Do nothing: closing flushes."""

    def tell(self) -> int:
        return self._size

    def close(self) -> None:
        self.closed = True
        self._file.close()


def _canonical(table: Any) -> Any:
    """The rows, with dictionaries that hold their values only: no trace is left of the batches that they came in."""
    columns = [column.chunk(0) for column in table.unify_dictionaries().combine_chunks().columns]
    columns = [_of_its_values(column) if hasattr(column, "dictionary") else column for column in columns]
    return type(table).from_arrays(columns, schema=table.schema)


def _of_its_values(coded: Any) -> Any:
    """A dictionary array without the values of its dictionary that no row has."""
    import pyarrow

    codes, values = numbers_of(coded.indices), coded.dictionary
    is_used = np.bincount(codes, minlength=len(values)) > 0
    if is_used.all():
        return coded
    codes = (np.cumsum(is_used, dtype=np.int32) - 1)[codes]
    indices = pyarrow.Array.from_buffers(pyarrow.int32(), len(codes), [None, pyarrow.py_buffer(codes)])
    return pyarrow.DictionaryArray.from_arrays(indices, _texts(np.flatnonzero(is_used), values))


def numbers_of(array: Any) -> NDArray[Any]:
    """The numbers of an array without missing values. Its `to_numpy` would import pandas where that is installed."""
    dtype = np.dtype(f"i{array.type.bit_width // 8}")
    return np.frombuffer(array.buffers()[1], dtype=dtype)[array.offset : array.offset + len(array)]


def _texts(codes: NDArray[np.integer], values: Any) -> Any:
    """The texts that codes stand for. `dictionary_decode` would import pyarrow.compute, which takes 40 ms."""
    import pyarrow

    _, offset, text = values.buffers()
    ends = np.frombuffer(offset, dtype=np.int32)[values.offset : values.offset + len(values) + 1].astype(np.int64)
    names = Names(b"" if text is None else text.to_pybytes()[ends[0] : ends[-1]], ends[1:] - ends[0])
    rows = names.at(codes.astype(np.int64))
    buffers = (pyarrow.py_buffer(part) for part in (rows.offset.astype(np.int32), rows.text))
    return pyarrow.StringArray.from_buffers(len(rows), *buffers)
