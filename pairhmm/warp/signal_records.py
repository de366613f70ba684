"""A signal of a file; and signals as text: a line has a name, a tab, and values with commas between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.outputs import TextSink
from pairhmm.files.text_lines import read_lines
from pairhmm.objects import short_repr


@dataclass(frozen=True, slots=True)
class SignalRecord:
    """A signal and its name."""

    name: str
    values: NDArray[np.floating]  # [n]: Samples in pA, or levels in the file's own units. All are finite.
    # Metadata of the read's run, such as ``sequencing_kit``. Reads of a run share the mapping.
    run: Mapping[str, str] = field(default_factory=dict)

    __repr__ = short_repr


LARGEST = 1e30
"""Squares of larger values, and sums of them, are beyond float64; currents are some hundred pA."""


def checked(path: str, record: str, values: NDArray[np.generic]) -> NDArray[np.float64]:
    """Values as numbers in one dimension. Raises InputError for others, and for those that are not finite or vast."""
    if values.ndim != 1 or values.dtype.kind not in "iuf":
        rule = f"an array of {values.ndim} dimensions and type {values.dtype}, not of numbers in one dimension"
        raise InputError(path, record, rule, "give each signal as a list of numbers")
    numbers = values.astype(np.float64)
    usable = np.abs(numbers) <= LARGEST
    if not usable.all():
        at = int(usable.argmin())
        raise InputError(path, record, f"value {at + 1} is {numbers[at]}", "repair or remove the signal")
    return numbers


def library(name: str, path: str, what: str) -> ModuleType:
    """The library that reads or writes a format. Raises InputError where it is missing."""
    try:
        return import_module(name)
    except ImportError as error:
        rule = f"{what} needs the library {name}, which does not load ({error})"
        raise InputError(path, "", rule, "pip install 'pairhmm[signal]'") from error


HEADER = "#name\tvalues"


def read_text(path: str) -> Iterator[SignalRecord]:
    """The signals of a text file, plain or gzipped. Lines that begin with ``#`` and empty lines are skipped.

    Raises InputError for a line that is not a name and numbers; names it.
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
