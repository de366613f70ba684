"""Checks of every input when it is opened: it is no output, and its compression is supported."""

from __future__ import annotations

import os
import stat
from codecs import BOM_UTF8

from pairhmm.errors import InputError
from pairhmm.files import formats
from pairhmm.files.descriptors import STDIN, STDIN_FILE
from pairhmm.files.destinations import note_input, note_pipe


def taken(path: str) -> None:
    """Check a file that an option names, before the work begins; ``-`` is stdin. `opening` checks it again.

    Raises InputError where the file is an output of this run, and for a file that is packed by a program other than
    gzip and bgzip.
    """
    note_input(path)
    if os.path.isfile(path):
        check_file_packing(path)


def opening(path: str | os.PathLike[str]) -> None:
    """Check a file that is about to be opened to be read; ``-`` is stdin. Each call stands for one reading.

    Raises InputError where the file is an output of this run; for a pipe that the run has read already; and for a file
    that is packed by a program other than gzip and bgzip.
    """
    name = os.fspath(path)
    note_input(name)
    try:
        status = os.stat(STDIN_FILE if name == STDIN else name)
    except (OSError, ValueError):
        # Opening the file will report what is wrong.
        return
    if stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode):
        note_pipe(name, (status.st_dev, status.st_ino))
    elif stat.S_ISREG(status.st_mode):
        check_file_packing(name)


def check_file_packing(path: str, file: str | None = None) -> None:
    """`check_packing` of a regular file, or of `file`, which is a copy of it."""
    try:
        descriptor = os.open(file or path, os.O_RDONLY) if path != STDIN or file else os.dup(STDIN_FILE)
    except (OSError, ValueError):
        # Opening the file will report what is wrong.
        return
    try:
        head = os.pread(descriptor, formats.PACKED_HEAD_SIZE, 0)
    except OSError:
        return
    finally:
        os.close(descriptor)
    check_packing(path, head)


def check_packing(path: str, head: bytes) -> None:
    """Require first bytes that are not those of xz, zstd or bzip2."""
    for packer, unpack, begins in formats.OTHER_PACKERS:
        if begins.match(head):
            cure = f"unpack it ({unpack}); text may be packed with gzip or bgzip instead"
            raise InputError(path, "", f"is packed by {packer}, which is not read", cure)


def has_byte_order_mark(path: str) -> bool:
    """Whether a text begins with a byte order mark, as editors of Windows write it. htslib does not read such files."""
    if not os.path.isfile(path):  # a pipe was read before
        return False
    with open(path, "rb") as file:
        return file.read(len(BOM_UTF8)) == BOM_UTF8
