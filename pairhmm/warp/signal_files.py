"""Reads signals from a file of any format. Its name's ending tells which; other files are text.

POD5 is read through the library pod5. A row of a .npy file is a signal, and so is an array of a .npz file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pairhmm.errors import InputError
from pairhmm.files.bgzf import MAKE_AGAIN
from pairhmm.files.byte_stream import ByteStream
from pairhmm.files.descriptors import is_device
from pairhmm.files.formats import BLOW5
from pairhmm.files.inputs import opening
from pairhmm.files.names import check_names
from pairhmm.warp.blow5 import read_blow5
from pairhmm.warp.signal_records import SignalRecord, checked, library, read_text
from pairhmm.warp.slow5 import read_slow5


def read_pod5(path: str) -> Iterator[SignalRecord]:
    """The reads of a POD5 file, in pA.

    Raises InputError for a file that is cut off or damaged, and where the library is missing.
    """
    pod5 = library("pod5", path, "a POD5 file")
    number = 0
    info: Any = None
    run: Mapping[str, str] = {}
    try:
        with pod5.Reader(path) as reader:
            for number, read in enumerate(reader.reads(), start=1):  # noqa: B007
                name = str(read.read_id)
                if read.run_info is not info:
                    info = read.run_info
                    run = _run_metadata(info)
                yield SignalRecord(name, checked(path, f"read {name}", read.signal_pa), run)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # pod5 raises what Arrow and its own parts do: no list of these is whole
        what = " ".join(str(error).split()) or type(error).__name__
        place = f"after read {number}" if number else ""
        raise InputError(path, place, f"is cut off or damaged ({what})", MAKE_AGAIN) from error


def _run_metadata(info: Any) -> dict[str, str]:
    """A run's metadata, under the names of SLOW5."""
    tags = {**dict(info.tracking_id), **dict(info.context_tags)}
    run = {name: str(getattr(info, name)) for name in ("sequencing_kit", "flow_cell_product_code", "protocol_name")}
    return {str(name): str(value) for name, value in tags.items()} | {name: run[name] for name in run if run[name]}


def read_arrays(path: str) -> Iterator[SignalRecord]:
    """The signals of a .npy or .npz file. Rows of a .npy file are named by their number, from 1.

    Raises InputError for a file that is cut off or damaged, or does not hold numbers.
    """
    try:
        if path.endswith(".npz"):
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


def read_slow5_or_blow5(path: str) -> Iterator[SignalRecord]:
    """The reads of a SLOW5 or BLOW5 file, in pA. Its first bytes tell which. Errors as in `read_slow5`."""
    with ByteStream(path, lambda _: None) as stream:
        yield from (read_blow5 if stream.head.startswith(BLOW5) else read_slow5)(stream)


_SEEKING = {".pod5": read_pod5, ".npy": read_arrays, ".npz": read_arrays}
_READERS = {".slow5": read_slow5_or_blow5, ".blow5": read_slow5_or_blow5, **_SEEKING}


def read_signals(path: str) -> Iterator[SignalRecord]:
    """Read the signals of a SLOW5, BLOW5, POD5, .npy or .npz file, or of text; ``-`` is stdin, as text.

    Raises InputError for a file that can't be used; names the signal.
    """
    if path.endswith(tuple(_SEEKING)):
        _check_file(path)
        opening(path)
    read = next((read for ending, read in _READERS.items() if path.endswith(ending)), read_text)
    for signal in read(path):
        check_names(path, "signal", (signal.name,), "rename the signal")
        yield signal


def _check_file(path: str) -> None:
    """Raise InputError unless the path is a file that can be opened: each library has another message."""
    if is_device(path):
        raise InputError(path, "", "is a pipe or a device, and this format needs random access", "give a file")
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise InputError(path, "", error.strerror or "can't be opened", "check the path") from error
