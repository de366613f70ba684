"""Values of a BAM record's tags (SAM specification, section 4.2.4) as text, as pysam has them."""

from __future__ import annotations

import struct
from array import array

_NUMBERS = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "f": "f", "d": "d"}
_HEAD = 6  # of an array: its types and its length


def tag_text(value: bytes) -> str:
    """The text of a type and a value; empty where there is none.

    Raises
    ------
    UnicodeDecodeError
        For a text that is not UTF-8.
    """
    if not value:
        return ""
    kind, data = chr(value[0]), value[1:]
    if kind in "ZH":
        return data.split(b"\0")[0].decode()
    if kind == "A":
        return chr(data[0])
    if kind == "B":
        numbers = array(_NUMBERS[chr(data[0])])
        numbers.frombytes(value[_HEAD:])
        return str(numbers)
    return str(struct.unpack(f"<{_NUMBERS[kind]}", data)[0])
