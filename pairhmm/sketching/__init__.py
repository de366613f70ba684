"""MinHash sketches of samples, and how alike two are. Each backend that compares has a module of its name here."""

from __future__ import annotations

from pairhmm import backends
from pairhmm.sketching.base import Comparer

__all__ = ["Comparer", "load", "names"]


def names() -> tuple[str, ...]:
    """Every comparer of this version, fastest first."""
    return backends.with_module_in(__name__)


def load(name: str, device: int | None = None) -> Comparer:
    """The comparer of that name.

    Parameters
    ----------
    name : str
    device : int, optional
        Index of a GPU backend's device, as in `pairhmm devices`; the first device without it.

    Raises
    ------
    BackendUnavailable
        If the backend does not run here. The error says what is missing and how to get it.
    InputError
        If the backend does not have this device.
    """
    comparer: Comparer = backends.made_in(__name__, "compare sketches", name, device)
    return comparer
