"""`--device free`: each process claims devices that no other process has. A claim ends with its process."""

from __future__ import annotations

import fcntl
import logging
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from pairhmm import backends
from pairhmm.errors import BackendUnavailable, InputError

log = logging.getLogger(__name__)


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


_LOOK_AGAIN_SECONDS = 0.5
"""Seconds between two looks for things that have become free."""

_held: list[int] = []
"""Descriptors of the locked files. They stay open, and so locked, until the process ends."""


def claim(names: Sequence[str], count: int) -> list[int]:
    """Wait until `count` of the named things are free, and claim them until this process ends.

    Parameters
    ----------
    names : sequence of str
        Names of the things; each must do as a file name.
    count : int
        At most ``len(names)``.

    Returns
    -------
    list of int
        Indices into `names` of those that were claimed, which are the first free ones.

    Raises
    ------
    InputError
        Where the folder of the lock files can't be used.
    """
    folder = Path(tempfile.gettempdir()) / f"pairhmm-claims-{os.getuid()}"
    is_told = False
    while True:
        found: dict[int, int] = {}
        for index, name in enumerate(names):
            descriptor = _lock(folder, name)
            if descriptor is not None:
                found[index] = descriptor
            if len(found) == count:
                _held.extend(found.values())
                return list(found)
        # Take all or nothing: two processes that each hold half of what they need would wait for ever.
        for descriptor in found.values():
            os.close(descriptor)
        if not is_told:
            log.info("waiting for %d of %s to be free", count, ", ".join(names))
            is_told = True
        time.sleep(_LOOK_AGAIN_SECONDS)


def _lock(folder: Path, name: str) -> int | None:
    """Lock a file. Returns its descriptor, or None if another process holds the lock."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(folder / name, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise InputError(str(folder), "", error.strerror or str(error), "set TMPDIR to a folder of yours") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
