"""Things of this machine that one process at a time may use; a claim ends with its process, however that ends."""

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
# Files stay open, and so claimed, until the process ends.
_held: list[int] = []


def claim(names: Sequence[str], count: int) -> list[int]:
    """Wait until so many of some things are free, and keep them until this process ends.

    Parameters
    ----------
    names : sequence of str
        Of the things: file names.
    count : int
        At most ``len(names)``.

    Returns
    -------
    list of int
        Indices into `names`: the first ones that are free.

    Raises
    ------
    InputError
        Where claims can't be written down.
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
        # All or nothing: two processes that each hold half of what they need would wait for ever.
        for descriptor in found.values():
            os.close(descriptor)
        if not is_told:
            log.info("waiting for %d of %s to be free", count, ", ".join(names))
            is_told = True
        time.sleep(_LOOK_AGAIN_SECONDS)


def _lock(folder: Path, name: str) -> int | None:
    """An open file that is locked; None where another process has it locked."""
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
