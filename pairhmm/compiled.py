"""The compiled part of the package, or a message that says how to get it."""

from __future__ import annotations

from pairhmm.errors import BackendUnavailable

try:
    from pairhmm import _cpu as native
except ImportError as error:
    raise BackendUnavailable(
        "cpu",
        "reading alignments needs its compiled part (pairhmm._cpu), which is not installed",
        "install a wheel, or pip install with a C++ compiler at hand",
    ) from error

__all__ = ["native"]
