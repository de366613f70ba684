"""Tables whose columns are found by their names, as `pairhmm map` writes them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from pairhmm.errors import InputError
from pairhmm.files.text_lines import read_lines

UNKNOWN = "."


class NamedTable:
    """The rows of a table with named columns, as mappings of a column to its text.

    Attributes
    ----------
    above : dict of str to str
        Keys and values of lines ``##KEY=VALUE``, once the first row is read.
    columns : list of str
        Likewise.
    """

    def __init__(self, path: str, columns: Sequence[str], made_by: str) -> None:
        self.path = path
        self.above: dict[str, str] = {}
        self.columns: list[str] = []
        self.line = 0
        self.cure = f"give a table that {made_by} wrote"
        self._needed = columns

    def __iter__(self) -> Iterator[Mapping[str, str]]:
        for line in read_lines(self.path):
            self.line += 1
            if line.startswith("##"):
                key, _, value = line.removeprefix("##").partition("=")
                self.above[key] = value
            elif not self.columns:
                self._read_header(line)
            else:
                fields = line.split("\t")
                if len(fields) != len(self.columns):
                    rule = f"{len(fields)} fields where the header has {len(self.columns)}"
                    raise self.wrong(rule, "the file may be cut off")
                yield dict(zip(self.columns, fields, strict=True))
        if not self.columns:
            raise InputError(self.path, "", "is empty", self.cure)

    def _read_header(self, line: str) -> None:
        columns = line.removeprefix("#").split("\t")
        missing = [name for name in self._needed if name not in columns]
        if missing:
            raise self.wrong(f"has no column {', '.join(missing)}")
        self.columns = columns

    def wrong(self, rule: str, cure: str = "") -> InputError:
        """What is wrong with the line that was read last."""
        return InputError(self.path, f"line {self.line}", rule, cure or self.cure)

    def number(self, row: Mapping[str, str], column: str) -> float | None:
        """A number; None for an unknown one."""
        text = row[column]
        if text == UNKNOWN:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise self.wrong(f"{column} {text!r} is not a number")
        return value

    def count(self, row: Mapping[str, str], column: str) -> int | None:
        value = self.number(row, column)
        return None if value is None else int(value)

    def known(self, row: Mapping[str, str], column: str) -> float:
        value = self.number(row, column)
        if value is None:
            raise self.wrong(f"{column} is missing")
        return value


def text_of(field: str) -> str | None:
    return None if field == UNKNOWN else field


def list_of(field: str) -> list[str]:
    """The parts of a field with commas between them."""
    return [] if field in (UNKNOWN, "") else field.split(",")
