"""What tells a file of a report from others: its size, and a checksum of it or of something small of it."""

from __future__ import annotations

import hashlib
import os
from typing import NamedTuple

from pairhmm.alignments.index import find_index

MOST_SUMMED = 100_000_000
"""Bytes of the largest file whose checksum is of all of it: a fraction of a second."""
HEAD = 1_000_000
"""Bytes at the beginning of a larger file whose checksum is told where it has no index."""
_INDEX_ENDINGS = (".fai", ".tbi", ".csi")


class FileSum(NamedTuple):
    """Size in bytes, None for a pipe; SHA-256; and what it is of: empty if it is the file."""

    size: int | None
    sha256: str = ""
    of: str = ""


def sum_of(path: str) -> FileSum:
    """The size and a checksum of a file that has been read."""
    if not os.path.isfile(path):
        return FileSum(None)
    size = os.path.getsize(path)
    if size <= MOST_SUMMED:
        return FileSum(size, _sha256(path, size))
    index = find_index(path) or next(filter(os.path.isfile, (path + ending for ending in _INDEX_ENDINGS)), None)
    if index is not None and os.path.getsize(index) <= MOST_SUMMED:
        return FileSum(size, _sha256(index, MOST_SUMMED), f"its index {os.path.basename(index)}")
    return FileSum(size, _sha256(path, HEAD), f"its first {HEAD:,} bytes")


def _sha256(path: str, most: int) -> str:
    """SHA-256 of at most the first `most` bytes."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(min(most, HEAD)):
            digest.update(piece)
            most -= len(piece)
    return digest.hexdigest()
