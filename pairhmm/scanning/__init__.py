"""Scanners: signatures in samples. The value of ``--backend`` is the name of a module here."""

from __future__ import annotations

from importlib import import_module

from pairhmm.errors import BackendUnavailable
from pairhmm.scanning.base import Scanner
from pairhmm.scanning.batch import Patterns, ScanOptions

_NAMES = ("cuda", "cpu", "reference")

__all__ = ["Scanner", "load", "names"]


def names() -> tuple[str, ...]:
    """Every scanner of this version, fastest first."""
    return _NAMES


def load(name: str, patterns: Patterns, options: ScanOptions) -> Scanner:
    """The scanner of that name.

    Raises
    ------
    BackendUnavailable
        With what is missing and how to get it.
    """
    if name not in _NAMES:
        raise BackendUnavailable(name, "it does not scan", f"use one of {', '.join(_NAMES)}")
    scanner: Scanner = import_module(f"pairhmm.scanning.{name}").make(patterns, options)
    return scanner
