"""Data as a page carries it: deflated, in base64."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

_LEVEL = 9


def pack(data: bytes) -> str:
    """Raw deflate (RFC 1951), which browsers unpack as ``deflate-raw``, in base64."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(packer.compress(data) + packer.flush()).decode("ascii")


def unpack(text: str) -> bytes:
    """What `pack` packed."""
    return zlib.decompress(base64.b64decode(text), -zlib.MAX_WBITS)


def to_json(data: Any) -> bytes:
    """Compact JSON; a value that JSON has no word for (NaN) is a ValueError."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
