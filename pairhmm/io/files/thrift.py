"""Structs of Thrift's compact protocol as Python objects. Headers and footers of Parquet files are such structs.

parquet.thrift in apache/parquet-format names their fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

# Types of the compact protocol.
TRUE, FALSE, I8, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
_INTEGERS = frozenset({I16, I32, I64})


class ThriftValue(NamedTuple):
    """A value with its type."""

    type: int
    value: Any


Struct = dict[int, ThriftValue]
"""A struct: values with their types, by number of the field."""


class ThriftList(NamedTuple):
    """The values of a list, which all have one type."""

    type: int
    values: list[Any]


def whole(value: int, kind: int = I32) -> ThriftValue:
    """A whole number."""
    return ThriftValue(kind, value)


def structs(values: Sequence[Struct] | Sequence[bytes]) -> ThriftValue:
    """A list of structs, which may have been written to bytes before."""
    return ThriftValue(LIST, ThriftList(STRUCT, list(values)))


def read_struct(data: bytes, at: int) -> Struct:
    """The struct that begins at a place."""
    return _Reader(data, at).struct()


def struct_bytes(fields: Struct) -> bytes:
    """A struct as it is written."""
    written = bytearray()
    _write(written, STRUCT, fields)
    return bytes(written)


def varint(value: int) -> bytes:
    """A whole number from 0 on as it is written: seven bits a byte, the lowest ones first."""
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    written.append(value)
    return bytes(written)


class _Reader:
    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at

    def struct(self) -> Struct:
        fields: Struct = {}
        number = 0
        while head := self._byte():
            kind, step = head & 15, head >> 4
            number = number + step if step else self._integer()
            fields[number] = ThriftValue(kind, kind == TRUE if kind in (TRUE, FALSE) else self._value(kind))
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (TRUE, FALSE, I8):
            return self._byte()
        if kind in _INTEGERS:
            return self._integer()
        if kind == DOUBLE:
            return self._bytes(8)
        if kind == BINARY:
            return self._bytes(self._varint())
        if kind == STRUCT:
            return self.struct()
        assert kind in (LIST, SET)
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._varint()
        return ThriftList(head & 15, [self._value(head & 15) for _ in range(count)])

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
    if kind in (TRUE, FALSE, I8):
        out.append(value)
    elif kind in _INTEGERS:
        out += varint(value << 1 ^ value >> 63)
    elif kind == DOUBLE:
        out += value
    elif kind == BINARY:
        out += varint(len(value))
        out += value
    elif kind == STRUCT and isinstance(value, bytes):
        out += value
    elif kind == STRUCT:
        _write_struct(out, value)
    else:
        count = len(value.values)
        out.append(min(count, 15) << 4 | value.type)
        if count >= 15:
            out += varint(count)
        for one in value.values:
            _write(out, value.type, one)


def _write_struct(out: bytearray, fields: Struct) -> None:
    before = 0
    for number, (kind, value) in sorted(fields.items()):
        if number - before <= 15:
            out.append((number - before) << 4 | kind)
        else:
            out.append(kind)
            out += varint(number << 1)
        before = number
        if kind not in (TRUE, FALSE):
            _write(out, kind, value)
    out.append(0)
