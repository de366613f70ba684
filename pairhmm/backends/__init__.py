"""The registry of backends: the value of ``--backend`` is the module's name."""

from __future__ import annotations

from importlib import import_module

from pairhmm.backends.base import Backend, Status
from pairhmm.errors import BackendUnavailable

_NAMES = ("cpu", "reference")

__all__ = ["Backend", "Status", "load", "names", "status"]


def names() -> tuple[str, ...]:
    """Every backend of this version, fastest first."""
    return _NAMES


def load(name: str) -> Backend:
    """The backend of that name.

    Raises
    ------
    BackendUnavailable
        With what is missing and how to get it.
    """
    found = status(name)
    if not found.available:
        raise BackendUnavailable(name, found.reason, found.cure)
    backend: Backend = import_module(f"pairhmm.backends.{name}").make()
    return backend


def status(name: str) -> Status:
    """Whether the backend runs here, and if not why and what helps."""
    if name not in _NAMES:
        return Status(False, reason="no such backend", cure=f"use one of {', '.join(_NAMES)}")
    found: Status = import_module(f"pairhmm.backends.{name}").status()
    return found
