"""Lines of text files, gzipped or not."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Protocol

import numpy as np

from pairhmm.errors import InputError
from pairhmm.files.byte_stream import ByteStream

_CHUNK = 1 << 20
_PIECE = 1 << 16


def read_lines(path: str) -> Iterator[str]:
    """The lines of a text file, without line ends. Memory grows with the longest line, not with the file.

    Raises InputError for a file that can't be read, is cut off, or is not text.
    """
    for text in read_texts(path):
        yield from (decoded(path, line) for line in text.removesuffix(b"\n").split(b"\n"))


def read_texts(path: str) -> Generator[bytes]:
    """The text of a file, many whole lines at once. The last line of the file may have no line end.

    Raises InputError for a file that can't be read or is cut off.
    """
    with ByteStream(path, lambda _: None) as stream:
        yield from stream_texts(stream)


def stream_texts(stream: ByteStream) -> Generator[bytes]:
    """Like `read_texts`, for a stream that is open."""
    buffer = np.empty(_CHUNK, dtype=np.uint8)
    rest = b""
    while size := stream.fill(buffer):
        text = rest + buffer[:size].tobytes()
        end = text.rfind(b"\n") + 1
        rest = text[end:]
        if end:
            yield text[:end]
    if rest:
        yield rest


def decoded(path: str, line: bytes) -> str:
    """A line as text, without a carriage return at its end. Raises InputError for bytes that are not text."""
    try:
        return line.decode().removesuffix("\r")
    except UnicodeDecodeError as error:
        raise InputError(path, "", "not a text file", "check the file") from error


def read_rows(
    path: str, columns: Sequence[str], made_by: str, above: str | None = None, optional: Sequence[str] = ()
) -> Iterator[list[str]]:
    """The rows of a tab-separated table.

    Raises InputError for other columns, and for a row with more or fewer fields; names the line.

    Parameters
    ----------
    columns : sequence of str
        The columns that its first line must name, with or without ``#``.
    made_by : str
        The command that writes such tables, for the message.
    above : str, optional
        A first line that begins with this stands above the header, and is skipped.
    optional : sequence of str
        Last columns that the table may have: all of them, or the first ones.
    """
    lines = enumerate(read_lines(path), start=1)
    at, header = next(lines, (1, ""))
    if above is not None and header.startswith(above):
        at, header = next(lines, (2, ""))
    names = header.removeprefix("#").split("\t")
    if names not in [[*columns, *optional[:count]] for count in range(len(optional) + 1)]:
        rule = "is empty" if not header else f"its header is not {' '.join(columns)}"
        raise InputError(path, f"line {at}", rule, f"give a table that {made_by} wrote")
    for number, line in lines:
        fields = line.split("\t")
        if len(fields) != len(names):
            rule = f"{len(fields)} fields where the header has {len(names)}"
            raise InputError(path, f"line {number}", rule, "the file may be cut off")
        yield fields


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
    while more := file.read(_PIECE):
        first, *lines = more.split(b"\n")
        pieces.append(first)
        if lines:
            yield b"".join(pieces)
            yield from lines[:-1]
            pieces = lines[-1:]
    if rest := b"".join(pieces):
        yield rest
