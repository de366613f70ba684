"""Row groups of Parquet from columns whose values repeat: pages are made of runs, not of rows.

pyarrow makes the same pages from a value for each row, in twenty times as long. A column of numbers with a fraction is
stored as it is, in pages of their own. Pages are compressed, and carry a checksum.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pairhmm.genomics.names import Names
from pairhmm.io.files.runs import Cycles, Runs, Values
from pairhmm.io.files.thrift import (
    BINARY,
    FALSE,
    I16,
    I32,
    I64,
    LIST,
    STRUCT,
    Struct,
    ThriftList,
    ThriftValue,
    struct_bytes,
    structs,
    varint,
    whole,
)

PagedColumn = Runs | Cycles | NDArray[np.float64]
"""Texts or whole numbers that repeat, or numbers with a fraction."""
Compress = Callable[[bytes], bytes]

# Numbers of parquet.thrift: of types, page types, encodings, and the codec.
_INT32, _INT64, _DOUBLE, _BYTE_ARRAY = 1, 2, 5, 6
_DATA_PAGE, _DICTIONARY_PAGE = 0, 2
_PLAIN, _RLE, _RLE_DICTIONARY = 0, 3, 8
_ZSTD = 6
# Values of a page of numbers with a fraction. pyarrow's pages have as many.
_VALUES_OF_A_PAGE = 1 << 17


def row_group(
    names: Sequence[str], columns: Sequence[PagedColumn], rows: int, measured: Sequence[str], compress: Compress
) -> tuple[bytes, Struct]:
    """The pages of a row group, and its part of a footer. Its place is that in a file without other row groups.

    Parameters
    ----------
    names : sequence of str
        Of the columns.
    columns : sequence of Runs, Cycles or float64[rows]
    rows : int
    measured : sequence of str
        Columns of which the footer has the least and the largest value.
    compress : callable
        Compresses with zstd.
    """
    chunks = []
    pages: list[bytes] = []
    begin = at = len(b"PAR1")
    for name, column in zip(names, columns, strict=True):
        made = list(_pages(column, rows, compress))
        chunks.append(_chunk(name, column, rows, made, at, name in measured))
        pages += [page.written for page in made]
        at += sum(len(page.written) for page in made)
    uncompressed = sum(chunk[3].value[6].value for chunk in chunks)
    group = {
        1: structs(chunks),
        2: whole(uncompressed, I64),
        3: whole(rows, I64),
        5: whole(begin, I64),
        6: whole(at - begin, I64),
        7: whole(0, I16),
    }
    return b"".join(pages), group


class _Page:
    """A page with its header."""

    def __init__(self, content: bytes, header: Struct, compress: Compress) -> None:
        packed = compress(content)
        (crc,) = struct.unpack("<i", struct.pack("<I", zlib.crc32(packed)))
        head = struct_bytes(header | {2: whole(len(content)), 3: whole(len(packed)), 4: whole(crc)})
        self.is_dictionary = header[1].value == _DICTIONARY_PAGE
        self.written = head + packed
        self.uncompressed = len(head) + len(content)


def _pages(column: PagedColumn, rows: int, compress: Compress) -> Iterator[_Page]:
    """The pages of a column: first its dictionary, if it has one."""
    if isinstance(column, np.ndarray):
        for first in range(0, rows, _VALUES_OF_A_PAGE):
            values = np.ascontiguousarray(column[first : first + _VALUES_OF_A_PAGE])
            yield _data_page(len(values), values.tobytes(), _PLAIN, compress)
        return
    size = len(column.values)
    header = {1: whole(_DICTIONARY_PAGE), 7: _struct({1: whole(size), 2: whole(_PLAIN), 3: ThriftValue(FALSE, False)})}
    yield _Page(_plain(column.values), header, compress)
    width = max(1, (size - 1).bit_length())
    yield _data_page(rows, bytes([width]) + column.encoded(width), _RLE_DICTIONARY, compress)


def _data_page(rows: int, values: bytes, encoding: int, compress: Compress) -> _Page:
    # One run: no value is missing.
    levels = varint(rows << 1) + b"\x01"
    about = {1: whole(rows), 2: whole(encoding), 3: whole(_RLE), 4: whole(_RLE)}
    header = {1: whole(_DATA_PAGE), 5: _struct(about)}
    return _Page(struct.pack("<I", len(levels)) + levels + values, header, compress)


def _plain(values: Values) -> bytes:
    """Values as Parquet has them: texts behind their lengths."""
    if not isinstance(values, Names):
        return values.astype(np.int64 if values.dtype.itemsize == 8 else np.int32).tobytes()
    lengths = np.diff(values.offset).astype("<i4")
    places = (values.offset[:-1] + lengths.itemsize * np.arange(len(values)))[:, None] + np.arange(lengths.itemsize)
    plain = np.empty(len(values.text) + lengths.nbytes, dtype=np.uint8)
    is_text = np.ones(len(plain), dtype=bool)
    is_text[places] = False
    plain[places] = lengths.view(np.uint8).reshape(-1, lengths.itemsize)
    plain[is_text] = np.frombuffer(values.text, dtype=np.uint8)
    return plain.tobytes()


def _chunk(name: str, column: PagedColumn, rows: int, pages: Sequence[_Page], at: int, is_measured: bool) -> Struct:
    """What the footer has of a column."""
    has_dictionary = pages[0].is_dictionary
    encodings = [_PLAIN, _RLE, _RLE_DICTIONARY] if has_dictionary else [_RLE, _PLAIN]
    about = {
        1: whole(_type(column)),
        2: ThriftValue(LIST, ThriftList(I32, encodings)),
        3: ThriftValue(LIST, ThriftList(BINARY, [name.encode()])),
        4: whole(_ZSTD),
        5: whole(rows, I64),
        6: whole(sum(page.uncompressed for page in pages), I64),
        7: whole(sum(len(page.written) for page in pages), I64),
        9: whole(at + (len(pages[0].written) if has_dictionary else 0), I64),
    }
    if has_dictionary:
        about[11] = whole(at, I64)
    if is_measured and not isinstance(column, np.ndarray):
        about[12] = _struct(_statistics(column))
    return {2: whole(0, I64), 3: _struct(about)}


def _statistics(column: Runs | Cycles) -> Struct:
    """The least and the largest value, and that none is missing."""
    if isinstance(column.values, Names):
        texts = [column.values.raw(code) for code in sorted(set(column.code.tolist()))]
        least, most = min(texts), max(texts)
    else:
        used = column.values[column.code]
        least, most = (value.tobytes() for value in (used.min(), used.max()))
    return {3: whole(0, I64), 5: ThriftValue(BINARY, most), 6: ThriftValue(BINARY, least)}


def _type(column: PagedColumn) -> int:
    if isinstance(column, np.ndarray):
        return _DOUBLE
    if isinstance(column.values, Names):
        return _BYTE_ARRAY
    return _INT64 if column.values.dtype.itemsize == 8 else _INT32


def _struct(fields: Struct) -> ThriftValue:
    return ThriftValue(STRUCT, fields)
