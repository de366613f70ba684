"""Lines of files that are open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

_CHUNK = 1 << 16


class Readable(Protocol):
    """An open file of bytes."""

    def read(self, size: int = ..., /) -> bytes:
        """Some bytes; none at the end."""
        ...


def lines_of(file: Readable) -> Iterator[bytes]:
    """The lines from where a file stands, without what ends them.

    pysam's own iteration over a compressed file ends at an empty line.
    """
    pieces: list[bytes] = []
    while more := file.read(_CHUNK):
        first, *lines = more.split(b"\n")
        pieces.append(first)
        if lines:
            yield b"".join(pieces)
            yield from lines[:-1]
            pieces = lines[-1:]
    if rest := b"".join(pieces):
        yield rest
