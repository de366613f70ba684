"""Scanners: signatures in samples. The value of ``--backend`` is the name of a module here."""

from __future__ import annotations

from importlib import import_module

from pairhmm import backends
from pairhmm.errors import BackendUnavailable
from pairhmm.scanning.base import Scanner
from pairhmm.scanning.batch import Patterns, ScanOptions

_NAMES = ("cuda", "webgpu", "cpu", "reference")

__all__ = ["Scanner", "load", "names"]


def names() -> tuple[str, ...]:
    """Every scanner of this version, fastest first."""
    return _NAMES


def load(name: str, patterns: Patterns, options: ScanOptions, device: int | None = None) -> Scanner:
    """The scanner of that name.

    Parameters
    ----------
    name : str
    patterns : Patterns
    options : ScanOptions
    device : int, optional
        Index of a GPU backend's device, as in `pairhmm devices`; the first device without it.

    Raises
    ------
    BackendUnavailable
        Where the backend does not run here; says what is missing and how to get it.
    InputError
        For a device that the backend does not have.
    """
    if name not in _NAMES:
        raise BackendUnavailable(name, "it does not scan", f"use one of {', '.join(_NAMES)}")
    number = backends.device_of(name, device)
    make = import_module(f"pairhmm.scanning.{name}").make
    scanner: Scanner = make(patterns, options) if number is None else make(patterns, options, number)
    return scanner
