"""Reads signals from a file of any format. Its name's ending tells which; other files are text."""

from __future__ import annotations

from collections.abc import Iterator

from pairhmm.errors import InputError
from pairhmm.io.files.inputs import opening
from pairhmm.io.files.names import check_names
from pairhmm.io.files.one_pass import require_file
from pairhmm.io.signals import arrays, pod5, slow5
from pairhmm.io.signals.arrays import read_arrays
from pairhmm.io.signals.pod5 import read_pod5
from pairhmm.io.signals.records import SignalRecord
from pairhmm.io.signals.slow5 import read_slow5
from pairhmm.io.signals.text import read_text

RAW_ENDINGS = slow5.ENDINGS + pod5.ENDINGS
"""Files of raw reads: of samples, which may be cut into events."""

_READERS = ((slow5.ENDINGS, read_slow5), (pod5.ENDINGS, read_pod5), (arrays.ENDINGS, read_arrays))


def read_signals(path: str) -> Iterator[SignalRecord]:
    """The signals of a SLOW5, BLOW5, POD5, .npy or .npz file, or of text (`pairhmm.io.signals.text`; ``-`` is stdin).

    Raises
    ------
    InputError
        For a file that can't be used; names the signal.
    """
    read = next((read for endings, read in _READERS if path.endswith(endings)), read_text)
    if read is not read_text:
        require_file(path, "its format is read from places of a file")
        opening(path)
        _check_readable(path)
    for signal in read(path):
        check_names(path, "signal", (signal.name,), "rename the signal")
        yield signal


def _check_readable(path: str) -> None:
    """Raise InputError unless the path is one that can be opened: libraries would tell it each in its own way."""
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise InputError(path, "", error.strerror or "can't be opened", "check the path") from error
