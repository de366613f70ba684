"""Devices for processes side by side: each takes those that no other has claimed."""

from __future__ import annotations

from pairhmm import backends
from pairhmm.engine.claims import claim
from pairhmm.errors import BackendUnavailable, InputError


def claim_devices(backend: str, count: int = 1) -> tuple[int, ...]:
    """Devices that no other process of this user has claimed; they stay claimed until this process ends.

    Where there are fewer, it waits.

    Parameters
    ----------
    backend : str
        A backend that computes on devices.
    count : int

    Returns
    -------
    tuple of int
        Indices into the backend's devices.

    Raises
    ------
    InputError
        For a backend without devices, or with fewer than `count`.
    BackendUnavailable
    """
    if backend == "auto":
        raise InputError("--device", "free", "needs to know whose devices", "name the --backend")
    found = backends.status(backend)
    if not found.available:
        raise BackendUnavailable(backend, found.reason, found.cure)
    if len(found.devices) < count:
        rule = f"{backend} has {len(found.devices)} devices, and {count} are asked for"
        raise InputError("--device", ",".join(["free"] * count), rule, "see pairhmm devices")
    numbers = found.machine_numbers or map(str, range(len(found.devices)))
    return tuple(claim([f"{backend}-{number}" for number in numbers], count))
