"""Warpers, which find the cheapest time warping of two signals. Each backend that warps has a module of its name."""

from __future__ import annotations

from pairhmm import backends
from pairhmm.warping.base import Warper

__all__ = ["Warper", "load", "names"]


def names() -> tuple[str, ...]:
    """Every warper of this version, fastest first."""
    return backends.with_module_in(__name__)


def load(name: str, device: int | None = None) -> Warper:
    """The warper of that name.

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
    warper: Warper = backends.made_in(__name__, "warp", name, device)
    return warper
