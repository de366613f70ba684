"""Reads signals from NumPy's files: .npy, where each row is a signal, and .npz, where each array is one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pairhmm.errors import InputError
from pairhmm.files.bgzf import MAKE_AGAIN
from pairhmm.warp.signal_records import SignalRecord, checked

_SEVERAL = ".npz"
ENDINGS = (".npy", _SEVERAL)


def read_arrays(path: str) -> Iterator[SignalRecord]:
    """The signals of a .npy or .npz file. Rows of a .npy file are named by their number, from 1.

    Raises
    ------
    InputError
        For a file that is cut off or damaged, or does not hold numbers.
    """
    try:
        if path.endswith(_SEVERAL):
            # NumPy leaves a file open that it can't use.
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as several:
                for name in several.files:
                    yield SignalRecord(name, checked(path, f"array {name}", several[name]))
            return
        rows = np.lib.format.open_memmap(path, mode="r")
        if rows.ndim > 1 and len(rows) > rows.size:
            raise ValueError(f"{len(rows)} rows without values")
        for number, row in enumerate(rows if rows.ndim > 1 else rows[None], start=1):
            yield SignalRecord(str(number), checked(path, f"row {number}", row))
    except InputError:
        raise
    except MemoryError as error:
        rule = "is not a sound NumPy file, or has more values than memory holds"
        raise InputError(path, "", rule, MAKE_AGAIN) from error
    except Exception as error:  # NumPy parses a header as Python does, and raises what that raises
        what = " ".join(str(error).split()) or type(error).__name__
        raise InputError(path, "", f"is not a sound NumPy file ({what})", MAKE_AGAIN) from error
