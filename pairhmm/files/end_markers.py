"""The markers at the end of alignment files and bgzipped files. A file without its marker was cut off."""

from __future__ import annotations

import os
import stat
import zlib
from contextlib import suppress

from pairhmm.errors import InputError
from pairhmm.files import formats

CUT_OFF, MAKE_AGAIN = "is cut off", "copy or make it again"
# The extra field that marks a BGZF block, and the empty block at a file's end (SAM specification, section 4.1).
_BGZF_FIELD = slice(12, 14), b"BC"
BGZF_END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
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
    if head.startswith(formats.GZIP):
        return BGZF_END if head[place] == field else b""
    if head.startswith(formats.BLOW5):
        return _BLOW5_END
    if head.startswith(formats.CRAM) and len(head) > 5 and tuple(head[4:6]) >= (2, 1):
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
            marker = end_marker(os.pread(descriptor, formats.BGZF_HEAD_SIZE, 0))
            tail = os.pread(descriptor, LONGEST, max(0, size - LONGEST))
            if marker == BGZF_END and becomes_gzip(descriptor):
                marker = b""
        finally:
            if isinstance(target, str):
                os.close(descriptor)
    except OSError as error:
        raise InputError(path, "", error.strerror or "can't be read", "check the path") from error
    if not size and path.endswith(_NEVER_EMPTY):
        raise InputError(path, "", f"{CUT_OFF}: nothing is in it", MAKE_AGAIN)
    check_tail(path, marker, tail)


def becomes_gzip(descriptor: int) -> bool:
    """Whether a file is text in blocks of BGZF, and goes on to its end as plain gzip behind one of them.

    Both are gzip, whose files may be put together (RFC 1952, section 2.2).

    Parameters
    ----------
    descriptor : int
        Of a regular file.

    Raises
    ------
    OSError
    """
    first = os.pread(descriptor, 1 << 16, 0)
    if not end_marker(first[: formats.BGZF_HEAD_SIZE]) or not first.startswith(formats.GZIP):
        return False
    with suppress(zlib.error):
        if zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(first, 4).startswith((formats.BAM, formats.BCF)):
            return False
    size, follower = os.fstat(descriptor).st_size, BlockFollower()
    if os.pread(descriptor, len(BGZF_END), max(0, size - len(BGZF_END))) == BGZF_END:
        return False
    while follower.is_in_blocks and follower.block < size:
        at = follower.block
        follower.follow(at, os.pread(descriptor, formats.BGZF_HEAD_SIZE, at))
        if follower.block == at:
            break
    return not follower.is_in_blocks


class BlockFollower:
    """Follows the blocks of BGZF as the bytes of a file pass.

    Attributes
    ----------
    block : int
        Where the next block begins.
    is_in_blocks : bool
        False once plain gzip stands where a block would begin.
    """

    def __init__(self) -> None:
        self.block, self.is_in_blocks = 0, True
        self._held = b""

    def follow(self, address: int, piece: bytes) -> None:
        """Take the bytes from an address on, which is where those before ended or the next block begins."""
        window, begin = self._held + piece, address - len(self._held)
        end = begin + len(window)
        while self.is_in_blocks and self.block + formats.BGZF_HEAD_SIZE <= end:
            at = self.block - begin
            head = window[at : at + formats.BGZF_HEAD_SIZE]
            place, field = _BGZF_FIELD
            if head.startswith(formats.GZIP) and head[place] == field:
                self.block += int.from_bytes(head[16:18], "little") + 1
            elif head.startswith(formats.GZIP_DEFLATE):
                self.is_in_blocks = False
            else:
                # What stands here is nothing: whoever unpacks it will say so.
                break
        self._held = window[max(0, self.block - begin) :][: formats.BGZF_HEAD_SIZE - 1]


def check_tail(path: str, marker: bytes, tail: bytes) -> None:
    """Require that the last bytes are the marker.

    Raises
    ------
    InputError
    """
    if not tail.endswith(marker):
        raise InputError(path, "", f"{CUT_OFF}: its end marker is missing", MAKE_AGAIN)
