"""Shards of a gathered run: text files with a header and rows, read so that errors name file and line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from pairhmm.errors import InputError
from pairhmm.files.text_lines import decoded, read_texts
from pairhmm.native import is_compiled, native

SAME_RUN = "give the shards of one run"
DAMAGED = "the file may be damaged: make it again"
# The highest position that BAM, VCF and their indices can hold.
_LAST_POSITION = 2**31 - 1
_MOST_DIGITS = len(str(_LAST_POSITION))


class ShardFile:
    """A text file (`texts` as from `read_texts`): its header, which are the first lines with ``#``, and its rows."""

    def __init__(self, path: str, texts: Iterator[bytes]) -> None:
        self.path = path
        self.header: list[str] = []
        self._texts = texts
        # Where the last line began and ended, and its number.
        self._text, self._before, self._at, self._number = b"", 0, 0, 0
        line = self._next()
        while line is not None and line.startswith("#"):
            self.header.append(line)
            line = self._next()
        self._first = line

    def rows(self) -> Iterator[tuple[int, str]]:
        """The numbered lines. Each must have as many fields as the last line of the header."""
        width = self.header[-1].count("\t")
        line, self._first = self._first, None
        while line is not None:
            if line.count("\t") != width:
                rule = f"{line.count(chr(9)) + 1} fields where the header has {width + 1}"
                raise self.fault(self._number, rule, "the file may be cut off")
            yield self._number, line
            line = self._next()

    def alike(self, place: int) -> bytes:
        """Further rows that need no look at each: they are like the last one of `rows`, which goes on behind them.

        `place`: the first of the three columns with contig, start and end, which these rows share; -1 if there are
        none.
        """
        if not is_compiled():
            return b""
        begin, fields = self._at, self.header[-1].count("\t") + 1
        self._at, lines = native.alike_lines(self._text, fields, place, self._before, begin)
        self._number += lines
        return self._text[begin : self._at]

    def _next(self) -> str | None:
        """The next line that is not blank."""
        while True:
            if self._at == len(self._text):
                self._text, self._at = next(self._texts, b""), 0
                if not self._text:
                    return None
            end = self._text.find(b"\n", self._at)
            self._before, self._at = self._at, end + 1 if end >= 0 else len(self._text)
            self._number += 1
            line = decoded(self.path, self._text[self._before : end if end >= 0 else self._at])
            if line.strip():
                return line

    def position(self, number: int, text: str) -> int:
        """Parse a position in line `number`."""
        if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS and int(text) <= _LAST_POSITION):
            raise self.fault(number, f"{text[:30]!r} is not a position", DAMAGED)
        return int(text)

    def fault(self, number: int, rule: str, cure: str) -> InputError:
        """The error to raise for line `number`."""
        return InputError(self.path, f"line {number}", rule, cure)


@contextmanager
def open_shard(path: str) -> Iterator[ShardFile]:
    """Open a file, plain or gzipped, and read its header."""
    with closing(read_texts(path)) as texts:
        yield ShardFile(path, texts)
