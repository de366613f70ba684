"""Pipes, for libraries that can only read from a file descriptor."""

from __future__ import annotations

import os
from contextlib import suppress
from threading import Thread
from typing import BinaryIO

_PIECE = 1 << 16


def pipe_from(source: BinaryIO) -> BinaryIO:
    """A pipe. A thread fills it with the bytes of `source`."""
    out, into = os.pipe()

    def pump() -> None:
        # The reader may end first, and close both files.
        with suppress(BrokenPipeError, ValueError), open(into, "wb") as sink:
            while piece := source.read(_PIECE):
                sink.write(piece)

    Thread(target=pump, daemon=True).start()
    return open(out, "rb")
