"""Reads and writes signals as text: a line has a name, a tab, and values with commas between them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pairhmm.errors import InputError
from pairhmm.files.outputs import TextSink
from pairhmm.files.text_lines import read_lines
from pairhmm.warp.signal_records import SignalRecord, checked

HEADER = "#name\tvalues"


def read_text(path: str) -> Iterator[SignalRecord]:
    """The signals of a text file, plain or gzipped. Lines that begin with ``#`` and empty lines are skipped.

    Raises
    ------
    InputError
        For a line that is not a name and numbers; names it.
    """
    for number, line in enumerate(read_lines(path), start=1):
        if not line or line.startswith("#"):
            continue
        name, tab, values = line.partition("\t")
        if not tab or not name:
            raise InputError(path, f"line {number}", "not a name, a tab and values", "separate values by commas")
        try:
            numbers = np.array(values.split(",") if values else [], dtype=np.float64)
        except ValueError as error:
            what = str(error).removeprefix("could not convert string to float: ")
            raise InputError(path, f"line {number} ({name})", f"{what} is not a number", "repair the line") from error
        yield SignalRecord(name, checked(path, f"line {number} ({name})", numbers))


def write_text(out: TextSink, signals: Iterator[SignalRecord]) -> None:
    """Write signals, with two decimals."""
    out.write(HEADER + "\n")
    for signal in signals:
        out.write(f"{signal.name}\t{','.join(f'{value:.2f}' for value in signal.values.tolist())}\n")
