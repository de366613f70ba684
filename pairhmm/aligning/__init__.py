"""Aligners, which find the best alignment of two sequences. Each backend that aligns has a module of its name here."""

from __future__ import annotations

from pairhmm import backends
from pairhmm.aligning.base import Aligner

__all__ = ["Aligner", "load", "names"]


def names() -> tuple[str, ...]:
    """Every aligner of this version, fastest first."""
    return backends.with_module_in(__name__)


def load(name: str, device: int | None = None) -> Aligner:
    """The aligner of that name.

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
    aligner: Aligner = backends.made_in(__name__, "align", name, device)
    return aligner
