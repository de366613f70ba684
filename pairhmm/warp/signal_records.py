"""A signal as its file has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.objects import short_repr


@dataclass(frozen=True, slots=True)
class SignalRecord:
    """A signal and its name.

    Attributes
    ----------
    name : str
    values : ndarray, shape (n,), float
        Samples in pA, or levels in the file's own units. All are finite.
    run : mapping of str to str
        What the file says of the read's run, such as ``sequencing_kit``. Reads of one run share the mapping.
    """

    name: str
    values: NDArray[np.floating]
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
