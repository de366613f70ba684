"""The version of the package."""

from __future__ import annotations


def version() -> str:
    """The installed version, or "unknown" where the package runs from a checkout that was not installed."""
    from importlib import metadata

    try:
        return metadata.version("pairhmm")
    except metadata.PackageNotFoundError:
        return "unknown"
