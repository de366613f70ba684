"""The layout of a sketch file, which docs/formats.md describes. All numbers are little-endian."""

from __future__ import annotations

import struct
from typing import Final

from pairhmm.map.sketch.sketches import SchemeName

MAGIC: Final = b"PHMMSKCH"
END: Final = b"SKCHDONE"
VERSION: Final = 1

HEADER: Final = struct.Struct("<8sIIIIII")
"""`MAGIC`, version, scheme, k, slots, bits, 0."""

COUNTS: Final = struct.Struct("<QQ")
"""Samples, and bytes of their names."""

TAIL: Final = struct.Struct("<II8s")
"""CRC-32 of all bytes before it, 0, `END`."""

SCHEMES: Final[tuple[SchemeName, ...]] = ("permutation", "published")
"""The scheme of each number in the header."""

WORD: Final = "<u8"
KMERS: Final = "<f8"
LEAST_COUNT: Final = "<i4"
NAME_END: Final = b"\n"
