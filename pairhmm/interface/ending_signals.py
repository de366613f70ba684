"""Signals that end a run, and the end of a run that has not begun."""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:  # the first module of a command imports nothing that takes time
    from types import FrameType

ENDING = {
    signal.SIGINT: "interrupted",
    signal.SIGTERM: "terminated",
    signal.SIGHUP: "the terminal was closed (hang-up)",
}
"""What is said of each."""

BASE = 128
"""The exit code is this plus the signal's number."""

_STDERR = 2


def end_at_once() -> None:
    """Let signals end this process with their line and exit code, while there is nothing to clean up.

    An exception would leave the imports of a command with a traceback, or be lost in them. A signal that is ignored, as
    hang-ups are under nohup, stays so.
    """
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    try:
        os.write(_STDERR, f"pairhmm: error: {ENDING[signal.Signals(number)]}\n".encode())
    finally:
        os._exit(BASE + number)
