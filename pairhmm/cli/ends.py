"""How a run ends: signals, and standard streams that are closed or whose reader has gone."""

from __future__ import annotations

import io
import logging
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

from pairhmm.errors import InputError

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_LATER_SECONDS = 0.02
_is_settled = False
# What ends a run from outside, beside Ctrl-C: told to stop, and its terminal gone.
_ENDING = {signal.SIGTERM: "terminated", signal.SIGHUP: "its terminal is gone: hung up"}


class Ended(BaseException):
    """A signal, raised where the program stands so that half-written files are removed on the way out.

    One that is freed before `settle` was dropped on its way, as Python and libraries do while they import, look up or
    free something. It is raised again then.

    Attributes
    ----------
    number : int
    told : str
        In words.
    """

    def __init__(self, number: int) -> None:
        self.number, self.told = number, _ENDING[signal.Signals(number)]
        super().__init__(self.told)

    def __del__(self) -> None:
        if not _is_settled:
            signal.setitimer(signal.ITIMER_REAL, _LATER_SECONDS)


def heed_signals() -> None:
    """Raise `Ended` at what ends a run; a hang-up that nohup has left out is left out."""
    for number in _ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)
    # Python would tell of one that it drops.
    sys.unraisablehook = lambda lost: None if lost.exc_type is Ended else sys.__unraisablehook__(lost)


def settle() -> None:
    """What ended the run has arrived where that is told."""
    global _is_settled
    _is_settled = True


def _end(number: int, frame: FrameType | None) -> None:
    # A second one would interrupt the cleaning up after the first.
    for each in _ENDING:
        signal.signal(each, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, lambda *_: _raise(number))
    _raise(number)


def _raise(number: int) -> None:
    raise Ended(number)


def open_closed_streams() -> None:
    """Put something in the place of standard streams that are closed: the next file opened would become one of them.

    Writing to a closed stdout is an error, as it is anywhere else; messages to a closed stderr are dropped.
    """
    for descriptor in (_STDIN, _STDOUT, _STDERR):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest that is free, and so this one.
            os.open(os.devnull, os.O_WRONLY if descriptor == _STDERR else os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_ClosedStdout(), encoding="utf-8", write_through=True)
    if sys.stderr is None:
        sys.stderr = os.fdopen(_STDERR, "w", closefd=False)


class _ClosedStdout(io.BytesIO):
    """A stdout that takes nothing and says so."""

    def write(self, data: object) -> int:
        raise InputError("stdout", "", "is closed", "let it lead somewhere, or name a file with -o")


def drop_unwritten() -> None:
    """Drop what a standard stream does not take, so that Python does not try once more, and complain, at exit."""
    for stream, descriptor in ((sys.stdout, _STDOUT), (sys.stderr, _STDERR)):
        try:
            stream.flush()
        except (OSError, ValueError, InputError):
            _discard(descriptor)


def _discard(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def tell_if_heard(show: Callable[[], object]) -> None:
    """Show a message on stderr; where nobody reads that any more, nothing."""
    try:
        show()
    except OSError:
        _discard(_STDERR)


class MessageHandler(logging.StreamHandler):  # type: ignore[type-arg]
    """Messages on stderr; where nobody reads that any more, the work goes on without them."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Called by `emit` where a message could not be written."""
        if isinstance(sys.exception(), OSError):
            _discard(_STDERR)
        else:
            super().handleError(record)
