"""Reads profiles from text files: reads as probability matrices."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.io.files.names import check_names
from pairhmm.models.profile import LETTERS, check_profile


def read_profiles(path: str | Path) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Read profiles (float64[m, 4]): a line `>name`, then for each position a line of the probabilities of A C G T.

    Raises
    ------
    InputError
        For lines that are not four numbers, and rows that do not sum to 1. The message names record and line.
    """
    name = ""
    rows: list[list[float]] = []
    try:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.startswith(">"):
                    if name:
                        yield name, _profile(str(path), name, rows)
                    name, rows = line[1:].split()[0] if line[1:].strip() else f"line {number}", []
                    check_names(str(path), "record", [name], "rename it")
                elif line.strip():
                    if not name:
                        raise InputError(
                            str(path), f"line {number}", "numbers before the first >name", "add a >name line"
                        )
                    rows.append(_row(str(path), number, line))
    except OSError as error:
        raise InputError(str(path), "", error.strerror or "can't be read", "check the path") from error
    except UnicodeDecodeError as error:
        raise InputError(str(path), "", "not a text file", "see docs/formats.md for profiles") from error
    if not name:
        raise InputError(str(path), "", "no profile in it", "see docs/formats.md for profiles")
    yield name, _profile(str(path), name, rows)


def _row(path: str, number: int, line: str) -> list[float]:
    fields = line.split()
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
