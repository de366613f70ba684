"""Reads POD5 through the library pod5."""

from __future__ import annotations

from collections.abc import Iterator

from pairhmm.errors import InputError
from pairhmm.io.files.end_markers import MAKE_AGAIN
from pairhmm.io.signals.records import SignalRecord, checked, library

ENDINGS = (".pod5",)


def read_pod5(path: str) -> Iterator[SignalRecord]:
    """The reads of a POD5 file, in pA.

    Raises
    ------
    InputError
        For a file that is cut off or damaged, and where the library is missing.
    """
    pod5 = library("pod5", path, "a POD5 file")
    number = 0
    try:
        with pod5.Reader(path) as reader:
            for number, read in enumerate(reader.reads(), start=1):  # noqa: B007
                name = str(read.read_id)
                yield SignalRecord(name, checked(path, f"read {name}", read.signal_pa))
    except (RuntimeError, OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        what = " ".join(str(error).split()) or type(error).__name__
        place = f"after read {number}" if number else ""
        raise InputError(path, place, f"is cut off or damaged ({what})", MAKE_AGAIN) from error
