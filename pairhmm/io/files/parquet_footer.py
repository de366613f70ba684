"""The footer of a Parquet file as Python objects, so that row groups that were made apart become one file.

Only the fields that move are named here. All else is copied as it is.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from pairhmm.io.files.thrift import BINARY, I16, I64, Struct, ThriftValue, read_struct, struct_bytes, structs

MAGIC = b"PAR1"
"""The first and the last bytes of a file."""

# Fields of FileMetaData, RowGroup, ColumnChunk and ColumnMetaData.
_ROWS, _ROW_GROUPS, _METADATA = 3, 4, 5
_COLUMNS, _GROUP_OFFSET, _ORDINAL = 1, 5, 7
_CHUNK_OFFSET, _COLUMN = 2, 3
_PAGES = (9, 10, 11, 14)
_TAIL = struct.Struct("<I4s")


def split(file: bytes) -> tuple[memoryview, Struct]:
    """The row groups of a file in memory, without the file's first bytes, and its footer."""
    size, magic = _TAIL.unpack_from(file, len(file) - _TAIL.size)
    assert magic == MAGIC
    begin = len(file) - _TAIL.size - size
    return memoryview(file)[len(MAGIC) : begin], read_struct(file, begin)


def row_groups(footer: Struct) -> tuple[list[Struct], int]:
    """The row groups of a footer, and their number of rows."""
    return footer[_ROW_GROUPS].value.values, footer[_ROWS].value


def move(groups: list[Struct], by: int, first: int) -> None:
    """Change row groups whose bytes were moved. They are numbered from `first` on."""
    for number, group in enumerate(groups, first):
        if _ORDINAL in group:
            group[_ORDINAL] = ThriftValue(I16, number)
        _move(group, _GROUP_OFFSET, by)
        for column in group[_COLUMNS].value.values:
            _move(column, _CHUNK_OFFSET, by)
            for field in _PAGES:
                _move(column[_COLUMN].value, field, by)


def footer_bytes(
    like: Struct, groups: Sequence[Struct] | Sequence[bytes], rows: int, metadata: dict[str, str]
) -> bytes:
    """What stands behind the row groups of a file.

    Parameters
    ----------
    like : Struct
        Footer of a file with the same columns.
    groups : sequence of Struct or bytes
        Those of `row_groups`, or the same as they are written.
    rows : int
        Of all groups.
    metadata : dict of str to str
        Key-value metadata beside those of `like`.
    """
    known = like[_METADATA].value.values if _METADATA in like else []
    added = [
        {1: ThriftValue(BINARY, key.encode()), 2: ThriftValue(BINARY, text.encode())} for key, text in metadata.items()
    ]
    changed = {
        _ROWS: ThriftValue(I64, rows),
        _ROW_GROUPS: structs(groups),
        _METADATA: structs([*added, *known]),
    }
    written = struct_bytes(like | changed)
    return written + _TAIL.pack(len(written), MAGIC)


def _move(fields: Struct, field: int, by: int) -> None:
    # 0 stands for no place at all.
    if field in fields and fields[field].value:
        fields[field] = ThriftValue(fields[field].type, fields[field].value + by)
