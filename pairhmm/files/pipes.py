"""Inputs through pipes, which can be read only once and from the beginning."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial

from pairhmm.errors import InputError
from pairhmm.files.bgzf import becomes_gzip
from pairhmm.files.descriptors import STDIN, STDIN_FILE
from pairhmm.files.inputs import check_file_packing
from pairhmm.files.text_lines import read_texts

_PIECE = 1 << 16


def is_pipe(path: str) -> bool:
    """Whether a path is a pipe, such as a shell's ``<(...)``, or stdin. `path` need not exist."""
    try:
        mode = os.stat(STDIN_FILE if path == STDIN else path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextmanager
def spooled(path: str) -> Iterator[str]:
    """A path that can be opened more than once: `path` itself, or a temporary copy of a pipe's content.

    Raises OSError where the pipe can't be read or the copy can't be written.
    """
    if not is_pipe(path):
        yield path
        return
    with open(path, "rb") as pipe, _copy_of(iter(partial(pipe.read, _PIECE), b"")) as copy:
        check_file_packing(path, copy)
        yield copy


@contextmanager
def unmixed(path: str) -> Iterator[str]:
    """`path`, or an unpacked temporary copy of text in BGZF with gzip behind it, which pysam would take for cut off.

    Raises
    ------
    InputError
        Where the file is cut off or damaged.
    OSError
        Where the copy can't be written.
    """
    if not _is_mixed(path):
        yield path
        return
    with _copy_of(read_texts(path)) as copy:
        yield copy


@contextmanager
def _copy_of(pieces: Iterable[bytes]) -> Iterator[str]:
    """A temporary file."""
    with tempfile.NamedTemporaryFile(prefix="pairhmm-") as copy:
        copy.writelines(pieces)
        copy.flush()
        yield copy.name


def _is_mixed(path: str) -> bool:
    try:
        if not os.path.isfile(path):
            return False
        descriptor = os.open(path, os.O_RDONLY)
    except (OSError, ValueError):
        # Opening the file will report what is wrong.
        return False
    try:
        return becomes_gzip(descriptor)
    finally:
        os.close(descriptor)


def require_file(path: str, why: str) -> None:
    """Raise an error for a pipe. `why` says what a file is needed for."""
    if is_pipe(path):
        raise InputError(path, "", f"is a pipe, and {why}", "write it to a file first")
