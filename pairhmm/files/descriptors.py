"""File descriptors: the standard streams, devices and pipes, and how many files may be open at once."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import BinaryIO, Final

from pairhmm.errors import InputError

STDIN: Final = "-"
STDOUT: Final = "-"
STDIN_FILE: Final = 0
STDOUT_FILE: Final = 1
TOO_MANY_FILES: Final = frozenset({errno.EMFILE, errno.ENFILE})
"""Error numbers of the system for too many open files."""

# Files that a process has open besides: outputs, the reference, and libraries.
_OTHERS = 128
_PIECE = 1 << 16


def is_device(destination: str | Path) -> bool:
    """Whether the destination exists and is not a regular file (a pipe, /dev/null). No file can be renamed onto it."""
    return os.path.exists(destination) and not os.path.isfile(destination) and not os.path.isdir(destination)


def pipe_from(source: BinaryIO, done: Callable[[], None] = lambda: None) -> BinaryIO:
    """A pipe. A thread fills it with the bytes of `source`, and then calls `done`."""
    out, into = os.pipe()

    def pump() -> None:
        # The reader may end first, and close both files.
        with suppress(BrokenPipeError, ValueError), open(into, "wb") as sink:
            while piece := source.read(_PIECE):
                sink.write(piece)
        done()

    Thread(target=pump, daemon=True).start()
    return open(out, "rb")


def allow_open_files(count: int) -> None:
    """Raise the limit of open files of this process and its children, within the system's hard limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + _OTHERS
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def too_many_files(path: str) -> InputError:
    """The error for a file that can't be opened beside all that are open."""
    return InputError(
        path, "", "too many files are open", "raise the limit (ulimit -n), or merge files: samtools merge"
    )
