"""Reads signals from a file of any format. Its name's ending tells which; other files are text."""

from __future__ import annotations

from collections.abc import Iterator

from pairhmm.errors import InputError
from pairhmm.files.descriptors import is_device
from pairhmm.files.inputs import opening
from pairhmm.files.names import check_names
from pairhmm.warp import pod5, slow5
from pairhmm.warp import signal_arrays as arrays
from pairhmm.warp.pod5 import read_pod5
from pairhmm.warp.signal_arrays import read_arrays
from pairhmm.warp.signal_records import SignalRecord
from pairhmm.warp.signal_text import read_text
from pairhmm.warp.slow5 import read_slow5

_SEEKING = pod5.ENDINGS + arrays.ENDINGS
_READERS = ((slow5.ENDINGS, read_slow5), (pod5.ENDINGS, read_pod5), (arrays.ENDINGS, read_arrays))


def read_signals(path: str) -> Iterator[SignalRecord]:
    """The signals of a SLOW5, BLOW5, POD5, .npy or .npz file, or of text (`pairhmm.warp.signal_text`; ``-`` is stdin).

    Raises
    ------
    InputError
        For a file that can't be used; names the signal.
    """
    if path.endswith(_SEEKING):
        _check_file(path)
        opening(path)
    read = next((read for endings, read in _READERS if path.endswith(endings)), read_text)
    for signal in read(path):
        check_names(path, "signal", (signal.name,), "rename the signal")
        yield signal


def _check_file(path: str) -> None:
    """Raise InputError unless the path is a file that can be opened: libraries would tell it each in its own way."""
    if is_device(path):
        raise InputError(path, "", "is a pipe or a device, and this format is read at any place", "give a file")
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise InputError(path, "", error.strerror or "can't be opened", "check the path") from error
