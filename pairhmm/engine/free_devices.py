"""`--device free`: processes that run side by side each take devices that no other process has claimed."""

from __future__ import annotations

from pairhmm import backends
from pairhmm.engine.claims import claim
from pairhmm.errors import BackendUnavailable, InputError


def claim_devices(backend: str, count: int = 1) -> tuple[int, ...]:
    """Claim devices that no other process of this user has claimed, until this process ends.

    Waits until enough devices are free.

    Parameters
    ----------
    backend : str
        Name of a backend with devices.
    count : int
        Devices to claim.

    Returns
    -------
    tuple of int
        Indices into the backend's devices.

    Raises
    ------
    InputError
        Where the backend has no devices, or fewer than `count`.
    BackendUnavailable
        Where the backend does not run here.
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
