"""Pieces of a run: text files with a header and rows, read so that errors name file and line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain

from pairhmm.errors import InputError
from pairhmm.io.files.text_lines import read_lines

SAME_RUN = "give the pieces of one run"
DAMAGED = "the file may be damaged: make it again"
# The highest position that BAM, VCF and their indices can hold.
_LAST_POSITION = 2**31 - 1
_MOST_DIGITS = len(str(_LAST_POSITION))


@dataclass(frozen=True, slots=True)
class Piece:
    """A text file: its header, and the numbered lines after it."""

    path: str
    header: list[str]
    lines: Iterator[tuple[int, str]]

    def rows(self) -> Iterator[tuple[int, str]]:
        """The numbered lines. Each must have as many fields as the last line of the header."""
        width = self.header[-1].count("\t")
        for number, line in self.lines:
            if line.count("\t") != width:
                rule = f"{line.count(chr(9)) + 1} fields where the header has {width + 1}"
                raise self.fault(number, rule, "the file may be cut off")
            yield number, line

    def position(self, number: int, text: str) -> int:
        """Parse a position in line `number`."""
        if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS and int(text) <= _LAST_POSITION):
            raise self.fault(number, f"{text[:30]!r} is not a position", DAMAGED)
        return int(text)

    def fault(self, number: int, rule: str, cure: str) -> InputError:
        """The error to raise for line `number`."""
        return InputError(self.path, f"line {number}", rule, cure)


@contextmanager
def open_piece(path: str) -> Iterator[Piece]:
    """Open a file, plain or gzipped, and read its header."""
    lines = ((number, line) for number, line in enumerate(read_lines(path), start=1) if line.strip())
    with closing(lines):
        header: list[str] = []
        first = next(lines, None)
        while first is not None and first[1].startswith("#"):
            header.append(first[1])
            first = next(lines, None)
        yield Piece(path, header, iter(()) if first is None else chain([first], lines))
