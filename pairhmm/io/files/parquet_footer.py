"""The footer of a Parquet file as Python objects, so that row groups that were made apart become one file.

A footer is a struct of Thrift's compact protocol (parquet.thrift in apache/parquet-format names the fields). Only what
moves is named here. All else is copied as it is.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

MAGIC = b"PAR1"
"""The first and the last bytes of a file."""

# Types of the compact protocol.
_TRUE, _FALSE, _I8, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_INTEGERS = frozenset({_I16, _I32, _I64})

# Fields of FileMetaData, RowGroup, ColumnChunk and ColumnMetaData.
_ROWS, _ROW_GROUPS, _METADATA = 3, 4, 5
_COLUMNS, _GROUP_OFFSET, _ORDINAL = 1, 5, 7
_CHUNK_OFFSET, _COLUMN = 2, 3
_PAGES = (9, 10, 11, 14)
_TAIL = struct.Struct("<I4s")


class _Value(NamedTuple):
    type: int
    value: Any


Struct = dict[int, _Value]
"""A struct: values with their types, by number of the field."""


class _Elements(NamedTuple):
    type: int
    values: list[Any]


def split(file: bytes) -> tuple[memoryview, Struct]:
    """The row groups of a file in memory, without the file's first bytes, and its footer."""
    size, magic = _TAIL.unpack_from(file, len(file) - _TAIL.size)
    assert magic == MAGIC
    begin = len(file) - _TAIL.size - size
    return memoryview(file)[len(MAGIC) : begin], _Reader(file, begin).struct()


def row_groups(footer: Struct, by: int, first: int) -> tuple[list[Struct], int]:
    """The row groups of a footer after their bytes were moved, numbered from `first` on, and their number of rows."""
    groups: list[Struct] = footer[_ROW_GROUPS].value.values
    for number, group in enumerate(groups, first):
        if _ORDINAL in group:
            group[_ORDINAL] = _Value(_I16, number)
        _move(group, _GROUP_OFFSET, by)
        for column in group[_COLUMNS].value.values:
            _move(column, _CHUNK_OFFSET, by)
            for field in _PAGES:
                _move(column[_COLUMN].value, field, by)
    return groups, footer[_ROWS].value


def footer_bytes(like: Struct, groups: list[Struct], rows: int, metadata: dict[str, str]) -> bytes:
    """What stands behind the row groups of a file.

    Parameters
    ----------
    like : Struct
        Footer of a file with the same columns.
    groups : list of Struct
        Those of `row_groups`.
    rows : int
        Of all groups.
    metadata : dict of str to str
        Key-value metadata beside those of `like`.
    """
    known = like[_METADATA].value.values if _METADATA in like else []
    added = [{1: _Value(_BINARY, key.encode()), 2: _Value(_BINARY, text.encode())} for key, text in metadata.items()]
    changed = {
        _ROWS: _Value(_I64, rows),
        _ROW_GROUPS: _Value(_LIST, _Elements(_STRUCT, groups)),
        _METADATA: _Value(_LIST, _Elements(_STRUCT, [*added, *known])),
    }
    written = bytearray()
    _write(written, _STRUCT, like | changed)
    return bytes(written) + _TAIL.pack(len(written), MAGIC)


def _move(fields: Struct, field: int, by: int) -> None:
    # 0 stands for no place at all.
    if field in fields and fields[field].value:
        fields[field] = _Value(fields[field].type, fields[field].value + by)


class _Reader:
    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at

    def struct(self) -> Struct:
        fields: Struct = {}
        number = 0
        while head := self._byte():
            kind, step = head & 15, head >> 4
            number = number + step if step else self._integer()
            fields[number] = _Value(kind, kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind))
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (_TRUE, _FALSE, _I8):
            return self._byte()
        if kind in _INTEGERS:
            return self._integer()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind == _STRUCT:
            return self.struct()
        assert kind in (_LIST, _SET)
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._varint()
        return _Elements(head & 15, [self._value(head & 15) for _ in range(count)])

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _bytes(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 128:
            value |= (byte & 127) << shift
            shift += 7
        return value | byte << shift

    def _integer(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)


def _write(out: bytearray, kind: int, value: Any) -> None:
    if kind in (_TRUE, _FALSE, _I8):
        out.append(value)
    elif kind in _INTEGERS:
        _write_varint(out, value << 1 ^ value >> 63)
    elif kind == _DOUBLE:
        out += value
    elif kind == _BINARY:
        _write_varint(out, len(value))
        out += value
    elif kind == _STRUCT:
        _write_struct(out, value)
    else:
        count = len(value.values)
        out.append(min(count, 15) << 4 | value.type)
        if count >= 15:
            _write_varint(out, count)
        for one in value.values:
            _write(out, value.type, one)


def _write_struct(out: bytearray, fields: Struct) -> None:
    before = 0
    for number, (kind, value) in sorted(fields.items()):
        if number - before <= 15:
            out.append((number - before) << 4 | kind)
        else:
            out.append(kind)
            _write_varint(out, number << 1)
        before = number
        if kind not in (_TRUE, _FALSE):
            _write(out, kind, value)
    out.append(0)


def _write_varint(out: bytearray, value: int) -> None:
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
