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
    """Wait until `count` devices are free, and claim them until this process ends. Returns their indices."""
    if backend == "auto":
        raise InputError("--device", "free", "needs to know whose devices", "name the --backend")
    status = backends.status(backend)
    if not status.available:
        raise BackendUnavailable(backend, status.reason, status.cure)
    if len(status.devices) < count:
        rule = f"{backend} has {len(status.devices)} devices, and {count} are asked for"
        raise InputError("--device", ",".join(["free"] * count), rule, "see pairhmm devices")
    numbers = status.machine_numbers or map(str, range(len(status.devices)))
    return tuple(_claim([f"{backend}-{number}" for number in numbers], count))


_POLL_SECONDS = 0.5

_locked: list[int] = []
"""Descriptors of the locked files, which stay open until the process ends."""


def _claim(names: Sequence[str], count: int) -> list[int]:
    """Lock the files of the first free names. Returns their indices."""
    folder = Path(tempfile.gettempdir()) / f"pairhmm-claims-{os.getuid()}"
    is_announced = False
    while True:
        locks: dict[int, int] = {}
        for index, name in enumerate(names):
            descriptor = _lock(folder, name)
            if descriptor is not None:
                locks[index] = descriptor
            if len(locks) == count:
                _locked.extend(locks.values())
                return list(locks)
        # All or nothing: two processes that each hold half of what they need would wait for ever.
        for descriptor in locks.values():
            os.close(descriptor)
        if not is_announced:
            log.info("waiting for %d of %s to be free", count, ", ".join(names))
            is_announced = True
        time.sleep(_POLL_SECONDS)


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
