"""Why htslib can't read a SAM file. Only stderr tells, so the file is read once more, and stderr is caught."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import suppress

import pysam

from pairhmm.errors import InputError
from pairhmm.io.files.htslib import UNREADABLE

_STDERR, _WARNINGS = 2, 3
_TOLD = re.compile(r"\[[EW]::\w+\] (.+)")
_LINE = re.compile(r"Parse error at line (\d+)")


def sam_fault(path: str) -> InputError | None:
    """The error for the first line that can't be read; None where htslib does not name it."""
    told = _TOLD.findall(_log_of(path))
    lines = [match[1] for text in told if (match := _LINE.search(text))]
    reasons = [text for text in told if not _LINE.search(text)]
    if not lines:
        return None
    return InputError(
        path, f"line {lines[0]}", reasons[-1] if reasons else "can't be read", "repair or remove the line"
    )


def _log_of(path: str) -> str:
    """What htslib writes to stderr while it reads a file."""
    kept = os.dup(_STDERR)
    with tempfile.TemporaryFile() as log:
        verbosity = pysam.set_verbosity(_WARNINGS)
        os.dup2(log.fileno(), _STDERR)
        try:
            with suppress(*UNREADABLE), pysam.AlignmentFile(path, check_sq=False) as file:
                for _ in file.fetch(until_eof=True):
                    pass
        finally:
            os.dup2(kept, _STDERR)
            os.close(kept)
            pysam.set_verbosity(verbosity)
        log.seek(0)
        return log.read().decode(errors="replace")
