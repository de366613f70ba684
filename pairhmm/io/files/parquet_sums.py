"""A checksum of all values of a Parquet file.

Pages have checksums of their own. Page headers and the footer have none, although they say how many rows there are and
where. Each file therefore carries a checksum of all its values. A reader of the whole file compares it.
"""

from __future__ import annotations

import zlib
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pairhmm.compiled import native
from pairhmm.errors import InputError
from pairhmm.io.files.runs import Sums

try:
    # Several times as fast as some builds of zlib.
    from isal.isal_zlib import crc32 as _crc32
except ImportError:
    _crc32 = zlib.crc32

_KEY = "pairhmm.crc32"


class ColumnSums:
    """One checksum for each column, together with the column's name and type.

    Rows are added batch after batch. How they are divided into batches does not change the checksum.

    Parameters
    ----------
    schema : pyarrow.Schema
    """

    def __init__(self, schema: Any) -> None:
        self._types = [str(getattr(field.type, "value_type", field.type)) for field in schema]
        self._sums = {name: [0, 0] for name in schema.names}
        self._sizes = {name: [0, 0] for name in schema.names}

    def add(self, batch: Any) -> None:
        """Take the next rows.

        Parameters
        ----------
        batch : pyarrow.RecordBatch or pyarrow.Table
            Columns of numbers and of text, without nulls. Text may be dictionary-encoded.
        """
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            for chunk in getattr(column, "chunks", [column]):
                sums, sizes = self._sums[name], self._sizes[name]
                # Nulls are never written. Those that a damaged header makes must change the sum.
                sums[0] += chunk.null_count
                for at, part in enumerate(_parts(chunk)):
                    sums[at] = _crc32(part, sums[at])
                    sizes[at] += len(part)

    def add_sums(self, name: str, behind: Sums) -> None:
        """Take the next rows of a column, of which only the sums are given."""
        for at, (sum_behind, size) in enumerate(behind):
            self._sums[name][at] = native.joined_crc32(self._sums[name][at], sum_behind, size)
            self._sizes[name][at] += size

    def join(self, behind: Self) -> None:
        """Take rows whose checksums were made apart, which stand behind those so far."""
        for name in self._sums:
            self.add_sums(name, tuple(zip(behind._sums[name], behind._sizes[name], strict=True)))

    def text(self) -> str:
        """The sums as text, as the file carries them."""
        sums = zip(self._sums.items(), self._types, strict=True)
        return " ".join(f"{name}:{kind}:{values:08x}:{lengths:08x}" for (name, (values, lengths)), kind in sums)

    def metadata(self) -> dict[str, str]:
        """What a file carries of the sums among its key-value metadata."""
        return {_KEY: self.text()}

    def write(self, writer: Any) -> None:
        """Put the sums into the footer of a ``ParquetWriter`` that is still open."""
        writer.add_key_value_metadata(self.metadata())

    def compare(self, path: str, file: Any) -> None:
        """Compare with what a ``ParquetFile`` carries, after all its rows were added.

        Raises
        ------
        InputError
            Where the sums differ or are missing.
        """
        carried = (file.metadata.metadata or {}).get(_KEY.encode())
        if carried != self.text().encode():
            what = "its rows do not fit its checksum" if carried else "it has no checksum"
            raise InputError(path, "", what, "it may be damaged or of another program: make it again with pairhmm")


def number_sums(numbers: NDArray[np.float64]) -> Sums:
    """The checksums of a column of numbers."""
    return ((_crc32(np.ascontiguousarray(numbers).view(np.uint8)), numbers.nbytes),)


def _parts(array: Any) -> tuple[bytes | memoryview, ...]:
    """The bytes of an array's values, and of their lengths where it is text."""
    if hasattr(array, "dictionary"):
        if len(array.dictionary) == 1 and not array.null_count:
            # A column of one text, as most have the name of one sample. Decoding takes ten times as long.
            one = _parts(array.dictionary)
            return tuple(bytes(part) * len(array) for part in one)
        array = array.dictionary_decode()
    _, *buffers = array.buffers()
    first, count = array.offset, len(array)
    if not count:
        return ()
    if len(buffers) == 1:
        width = array.type.bit_width // 8
        return (memoryview(buffers[0])[first * width : (first + count) * width],)
    ends = np.frombuffer(buffers[0], dtype=np.int32)[first : first + count + 1]
    text = memoryview(buffers[1])[int(ends[0]) : int(ends[-1])] if buffers[1] is not None else b""
    return text, np.diff(ends).tobytes()
