"""Scanners, which find signatures in samples. Each backend that can scan has a module of its name here."""

from __future__ import annotations

from pairhmm import backends
from pairhmm.scanning.base import Scanner
from pairhmm.scanning.batch import Patterns, ScanOptions

__all__ = ["Scanner", "load", "names"]


def names() -> tuple[str, ...]:
    """Every scanner of this version, fastest first."""
    return backends.with_module_in(__name__)


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
        If the backend does not run here. The error says what is missing and how to get it.
    InputError
        If the backend does not have this device.
    """
    scanner: Scanner = backends.made_in(__name__, "scan", name, device, patterns, options)
    return scanner
