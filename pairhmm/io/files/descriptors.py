"""How many files may be open at once."""

from __future__ import annotations

import errno
from typing import Final

from pairhmm.errors import InputError

TOO_MANY_FILES: Final = frozenset({errno.EMFILE, errno.ENFILE})
"""What the system answers where too many files are open."""

# Files that a process has open besides: outputs, the reference, pipes to workers, and libraries.
_OTHERS = 128


def allow_open_files(count: int) -> None:
    """Let this process, and those that it starts, open so many files, as far as the system's hard limit allows."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
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
