"""Writes tables of what was simulated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pairhmm.io.files.outputs import open_output


def write_truth_table(path: str | Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a tab-separated table. Its first line names the columns and begins with ``#``.

    Raises
    ------
    InputError
        Where the file can't be written.
    """
    with open_output(path) as out:
        out.write("#" + "\t".join(columns) + "\n")
        out.writelines("\t".join(map(str, row)) + "\n" for row in rows)
