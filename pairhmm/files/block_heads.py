"""Checks the heads of a BGZF file's first blocks: htslib's threads never end where one of them is damaged."""

from __future__ import annotations

import os
import struct

from pairhmm.errors import InputError
from pairhmm.files import formats
from pairhmm.files.end_markers import MAKE_AGAIN, end_marker

# The head that htslib demands: gzip with an extra field of 6 bytes, which is the subfield BC.
_HEAD = struct.Struct("<3sB6x6sH")
_HAS_FIELD, _FIELD = 4, b"\x06\x00BC\x02\x00"
_BLOCKS_A_THREAD = 4
"""Blocks that are checked for each thread. htslib reads two ahead."""


def check_file(path: str, threads: int, file: int | None = None) -> None:
    """Check the blocks that `threads` threads of htslib read while a regular file's header is read.

    Parameters
    ----------
    path : str
    threads : int
    file : int, optional
        An open descriptor of the file. Its position does not change.

    Raises
    ------
    InputError
        For something that is not a block, and for a block that reaches beyond the end of the file.
    OSError
    """
    descriptor = os.open(path, os.O_RDONLY) if file is None else file
    try:
        size = os.fstat(descriptor).st_size
        at = 0
        for _ in range(_BLOCKS_A_THREAD * (threads + 1)):
            at = _behind(path, at, os.pread(descriptor, formats.BGZF_HEAD_SIZE, at))
            if at > size:
                raise _damaged(path, size)
            if at in (0, size):
                return
    finally:
        if file is None:
            os.close(descriptor)


def check_bytes(path: str, start: bytes) -> None:
    """Check the blocks that begin in the first bytes of a stream.

    Raises
    ------
    InputError
        For something that is not a block.
    """
    at = 0
    while at + formats.BGZF_HEAD_SIZE <= len(start):
        at = _behind(path, at, start[at : at + formats.BGZF_HEAD_SIZE])
        if not at:
            return


def _behind(path: str, at: int, head: bytes) -> int:
    """The end of the block that begins at `at`; 0 for a file that does not consist of blocks."""
    if not at and not (head[:2] == formats.GZIP and end_marker(head)):
        return 0
    size = block_size(head)
    if not size:
        raise _damaged(path, at)
    return at + size


def block_size(data: bytes | memoryview, at: int = 0) -> int:
    """The size of the block whose head is at a place of some bytes; 0 where it is not the head of a block."""
    if len(data) - at < formats.BGZF_HEAD_SIZE:
        return 0
    begin, flags, field, last = _HEAD.unpack_from(data, at)
    is_block = begin == formats.GZIP_DEFLATE and flags & _HAS_FIELD and field == _FIELD
    return last + 1 if is_block and last >= formats.BGZF_HEAD_SIZE else 0


def _damaged(path: str, at: int) -> InputError:
    return InputError(path, "", f"is damaged near byte {at:,}", MAKE_AGAIN)
