"""Claims on things that one process at a time may use. A claim ends when its process does, even if it is killed."""

from __future__ import annotations

import fcntl
import logging
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from pairhmm.errors import InputError

log = logging.getLogger(__name__)

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
