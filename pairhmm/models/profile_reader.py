"""Reads profiles from text files: reads as probability matrices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.names import check_names
from pairhmm.files.text_lines import read_lines
from pairhmm.models.profile import LETTERS, check_profile

COLUMNS = ("name", "position", *LETTERS)
"""The columns that a table of profiles begins with. Others may stand behind them."""

ENDINGS = (".profile", ".profile.gz", ".tsv", ".tsv.gz")
"""Endings of the names of files of profiles."""

COUNT = "positions="
"""Prefix of a profile's number of positions in its name line."""

_SEE = "see docs/formats.md for profiles"


def read_profiles(path: str | Path) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Read names and profiles (float64[m, 4]) from a `.profile` file or a table, gzipped or not.

    A table is a file whose first line names `COLUMNS`, separated by tabs. InputError names record and line.
    """
    lines = read_lines(str(path))
    first = next(lines, "")
    is_table = first.removeprefix("#").split("\t")[:2] == list(COLUMNS[:2])
    records = _table(str(path), first, lines) if is_table else _named(str(path), chain([first], lines))
    has_profiles = False
    for name, rows in records:
        check_names(str(path), "record", [name], "rename it")
        has_profiles = True
        yield name, _profile(str(path), name, rows)
    if not has_profiles:
        raise InputError(str(path), "", "no profile in it", _SEE)


def _named(path: str, lines: Iterator[str]) -> Iterator[tuple[str, list[list[float]]]]:
    """Records of a `.profile` file: a line `>name`, then for each position a line of four numbers."""
    name = expected = ""
    rows: list[list[float]] = []
    for number, line in enumerate(lines, start=1):
        if line.startswith(">"):
            if name:
                yield name, _whole(path, name, rows, expected)
            fields = line[1:].split() or [f"line {number}"]
            name, rows = fields[0], []
            counts = [field.removeprefix(COUNT) for field in fields[1:] if field.startswith(COUNT)]
            expected = counts[0] if counts and counts[0].isdecimal() else ""
        elif line.strip():
            if not name:
                raise InputError(path, f"line {number}", "numbers before the first >name", "add a >name line")
            rows.append(_row(path, number, line.split()))
    if name:
        yield name, _whole(path, name, rows, expected)


def _whole(path: str, name: str, rows: list[list[float]], expected: str) -> list[list[float]]:
    if expected and str(len(rows)) != expected:
        raise InputError(path, name, f"{len(rows)} of {expected} positions", "the file may be cut off")
    return rows


def _table(path: str, header: str, lines: Iterator[str]) -> Iterator[tuple[str, list[list[float]]]]:
    """Records of a table, whose positions count from 1 in each record."""
    columns = header.removeprefix("#").split("\t")
    if tuple(columns[: len(COLUMNS)]) != COLUMNS:
        raise InputError(path, "line 1", f"the columns do not begin with {' '.join(COLUMNS)}", _SEE)
    name = ""
    rows: list[list[float]] = []
    for number, line in enumerate(lines, start=2):
        fields = line.split("\t")
        if len(fields) != len(columns):
            rule = f"{len(fields)} fields where the header has {len(columns)}"
            raise InputError(path, f"line {number}", rule, "the file may be cut off")
        if fields[1] == "1":
            if name:
                yield name, rows
            name, rows = fields[0] or f"line {number}", []
        elif fields[0] != name or fields[1] != str(len(rows) + 1):
            rule = f"position {fields[1]} of {fields[0]} is not the next one"
            raise InputError(path, f"line {number}", rule, "count the positions of each profile from 1")
        rows.append(_row(path, number, fields[2 : len(COLUMNS)]))
    if name:
        yield name, rows


def _row(path: str, number: int, fields: list[str]) -> list[float]:
    try:
        if len(fields) != len(LETTERS):
            raise ValueError
        return [float(field) for field in fields]
    except ValueError:
        raise InputError(path, f"line {number}", "not four numbers", "give the probabilities of A C G T") from None


def _profile(path: str, name: str, rows: list[list[float]]) -> NDArray[np.float64]:
    if not rows:
        raise InputError(path, name, "empty profile", "remove the record")
    profile = np.array(rows)
    try:
        check_profile(profile)
    except ValueError as error:
        raise InputError(path, name, str(error), "normalise the row") from error
    return profile
