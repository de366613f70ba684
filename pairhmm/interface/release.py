"""The version of the package."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module


def version() -> str:
    """The installed version, or "unknown" where the package runs from a checkout that was not installed."""
    # Written when the package is built (pyproject.toml): looking it up takes a hundredth of a second.
    with suppress(ImportError):
        return str(import_module("pairhmm._version").version)

    from importlib import metadata

    try:
        return metadata.version("pairhmm")
    except metadata.PackageNotFoundError:
        return "unknown"
