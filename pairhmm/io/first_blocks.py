"""The blocks that a bgzipped file begins with, looked at before threads of htslib read ahead."""

from __future__ import annotations

import os

from pairhmm.errors import InputError

# SAM specification, section 4.1: what a BGZF block begins with, and its size.
_HEAD, _MAGIC, _MARK = 18, b"\x1f\x8b\x08\x04", b"BC\x02\x00"
_GZIP_MAGIC = _MAGIC[:2]
_BLOCKS_PER_THREAD, _MORE_BLOCKS = 2, 64


def check_first_blocks(path: str, file: str | int, threads: int) -> None:
    """Require that the blocks that threads read while a header is read follow each other.

    Where they do not, htslib's reading thread ends, and whoever then asks it for the end marker waits for ever.

    Parameters
    ----------
    path : str
        As errors name it.
    file : str or int
        A regular file, or its open descriptor, whose position stays.
    threads : int

    Raises
    ------
    InputError
    OSError
    """
    descriptor = os.open(file, os.O_RDONLY) if isinstance(file, str) else file
    try:
        if os.pread(descriptor, len(_GZIP_MAGIC), 0) != _GZIP_MAGIC:
            return
        size, at = os.fstat(descriptor).st_size, 0
        for _ in range(_BLOCKS_PER_THREAD * threads + _MORE_BLOCKS):
            if at == size:
                return
            head = os.pread(descriptor, _HEAD, at)
            after = at + int.from_bytes(head[16:], "little") + 1
            if len(head) < _HEAD or head[:4] != _MAGIC or head[12:16] != _MARK or not at + _HEAD < after <= size:
                raise InputError(path, "", f"is damaged: no whole block begins at byte {at}", "copy or make it again")
            at = after
    finally:
        if isinstance(file, str):
            os.close(descriptor)
