"""Reads signals from NumPy's files: .npy, where each row is a signal, and .npz, where each array is one."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator

import numpy as np

from pairhmm.errors import InputError
from pairhmm.io.files.end_markers import MAKE_AGAIN
from pairhmm.io.signals.records import SignalRecord, checked

ENDINGS = (".npy", ".npz")


def read_arrays(path: str) -> Iterator[SignalRecord]:
    """The signals of a .npy or .npz file. Rows of a .npy file are named by their number, from 1.

    Raises
    ------
    InputError
        For a file that is cut off or damaged, or does not hold numbers.
    """
    try:
        file = np.load(path, mmap_mode="r", allow_pickle=False)
        if isinstance(file, np.ndarray):
            for number, row in enumerate(file if file.ndim > 1 else file[None], start=1):
                yield SignalRecord(str(number), checked(path, f"row {number}", row))
            return
        with file:
            for name in file.files:
                yield SignalRecord(name, checked(path, f"array {name}", file[name]))
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        if isinstance(error, InputError):
            raise
        if isinstance(error, FileNotFoundError | PermissionError):
            raise InputError(path, "", error.strerror or "can't be read", "check the path") from error
        what = " ".join(str(error).split()) or type(error).__name__
        raise InputError(path, "", f"is not a sound NumPy file ({what})", MAKE_AGAIN) from error
