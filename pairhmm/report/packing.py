"""Data for a page: deflated, then as base64."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

_LEVEL = 9
"""zlib's level of compression: the smallest output."""


def pack(data: bytes) -> str:
    """Raw deflate (RFC 1951) in base64. Browsers unpack it as ``deflate-raw``."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(packer.compress(data) + packer.flush()).decode("ascii")


def unpack(text: str) -> bytes:
    """The data that `pack` packed."""
    return zlib.decompress(base64.b64decode(text), -zlib.MAX_WBITS)


def to_json(data: Any) -> bytes:
    """Compact JSON. Raises ValueError for a number that JSON does not have, such as NaN."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
