"""The markers at the end of alignment files and bgzipped files. A file without its marker was cut off."""

from __future__ import annotations

import os
import stat

from pairhmm.errors import InputError
from pairhmm.io.files import magic

CUT_OFF, MAKE_AGAIN = "is cut off", "copy or make it again"
# The extra field that marks a BGZF block, and the empty block at a file's end (SAM specification, section 4.1).
_BGZF_FIELD = slice(12, 14), b"BC"
_BGZF_END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
_BLOW5_END = b"5WOLB"
# The empty container at a file's end, by major version (CRAM specification, section 9). CRAM 2.0 has none.
_CRAM_ENDS = {
    2: bytes.fromhex("0b000000ffffffff0fe0454f460000000001000001000606010001000100"),
    3: bytes.fromhex("0f000000ffffffff0fe0454f4600000000010005bdd94f0001000606010001000100ee63014b"),
}
LONGEST = 64
"""An upper limit on the length of a marker, in bytes."""
# A sound file with one of these suffixes is never empty. An empty one was never written, or cut off at its start.
_NEVER_EMPTY = (".gz", ".bgz", ".bam", ".cram", ".bcf", ".blow5", ".slow5")


def end_marker(head: bytes) -> bytes:
    """The end marker of a file with these first bytes; empty if its format has none."""
    place, field = _BGZF_FIELD
    if head.startswith(magic.GZIP):
        return _BGZF_END if head[place] == field else b""
    if head.startswith(magic.BLOW5):
        return _BLOW5_END
    if head.startswith(magic.CRAM) and len(head) > 5 and tuple(head[4:6]) >= (2, 1):
        return _CRAM_ENDS.get(head[4], b"")
    return b""


def check_end(path: str, file: str | int | None = None) -> None:
    """Require that a regular file ends in the marker of its format.

    Other files are not checked here: the end of a pipe is known only once it was read.

    Parameters
    ----------
    path : str
    file : str or int, optional
        A path to open in place of `path`, or an open descriptor, whose position does not change.

    Raises
    ------
    InputError
        Where the marker is missing, and where the file can't be read.
    """
    target = path if file is None else file
    try:
        if not stat.S_ISREG(os.stat(target).st_mode):
            return
        descriptor = os.open(target, os.O_RDONLY) if isinstance(target, str) else target
        try:
            size = os.fstat(descriptor).st_size
            marker = end_marker(os.pread(descriptor, magic.BGZF_HEAD_SIZE, 0))
            tail = os.pread(descriptor, LONGEST, max(0, size - LONGEST))
        finally:
            if isinstance(target, str):
                os.close(descriptor)
    except OSError as error:
        raise InputError(path, "", error.strerror or "can't be read", "check the path") from error
    if not size and path.endswith(_NEVER_EMPTY):
        raise InputError(path, "", f"{CUT_OFF}: nothing is in it", MAKE_AGAIN)
    check_tail(path, marker, tail)


def check_tail(path: str, marker: bytes, tail: bytes) -> None:
    """Require that the last bytes are the marker.

    Raises
    ------
    InputError
    """
    if not tail.endswith(marker):
        raise InputError(path, "", f"{CUT_OFF}: its end marker is missing", MAKE_AGAIN)
