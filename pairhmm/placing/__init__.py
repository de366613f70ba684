"""The map of samples: sketched properties, projected to the plane and blended with neighbours.

Each backend that places samples has a module of its name here.
"""

from __future__ import annotations

from pairhmm import backends
from pairhmm.placing.base import Placer

__all__ = ["Placer", "load", "names"]


def names() -> tuple[str, ...]:
    """Every placer of this version, fastest first."""
    return backends.with_module_in(__name__)


def load(name: str, device: int | None = None) -> Placer:
    """The placer of that name.

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
    placer: Placer = backends.made_in(__name__, "place samples", name, device)
    return placer
