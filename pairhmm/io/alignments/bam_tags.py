"""Values of a BAM record's tags (SAM specification, section 4.2.4) as text, as pysam has them."""

from __future__ import annotations

import struct
from array import array

_IN_ARRAYS = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "f": "f"}
_ALONE = {**_IN_ARRAYS, "d": "d"}
_HEAD = 6  # of an array: its types and its length


def tag_text(value: bytes) -> str:
    """The text of a type and a value; empty where there is none.

    Raises
    ------
    ValueError
        For a text that is not UTF-8, a character that is not ASCII, and an array of what is no number of BAM.
    """
    if not value:
        return ""
    kind, data = chr(value[0]), value[1:]
    if kind in "ZH":
        return data.split(b"\0")[0].decode()
    if kind == "A":
        return data.decode("ascii")
    if kind == "B":
        if (each := chr(data[0])) not in _IN_ARRAYS:
            raise ValueError(f"an array of type {each}")
        numbers = array(_IN_ARRAYS[each])
        numbers.frombytes(value[_HEAD:])
        return str(numbers)
    return str(struct.unpack(f"<{_ALONE[kind]}", data)[0])
