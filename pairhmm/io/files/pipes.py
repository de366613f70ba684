"""Pipes, for libraries that can only read from a file descriptor."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import BinaryIO

_PIECE = 1 << 16


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
