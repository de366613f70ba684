"""How a run ends: signals, and standard streams that are closed or no longer read."""

from __future__ import annotations

import io
import logging
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

from pairhmm.cli.startup import ENDING, handle_signals
from pairhmm.errors import InputError

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_LATER_SECONDS = 0.02


class Ended(BaseException):
    """A signal that ends the run, as an exception, so that half-written files are removed on the way out.

    Libraries drop exceptions in places: while they import, look up or free something; of ten signals to `simulate`,
    NumPy's random module dropped one or two as it was imported. An `Ended` that is freed before it `arrived` was
    dropped, and is raised again a little later.

    Attributes
    ----------
    number : int
        The signal's.
    message : str
        The message about the signal.
    arrived : bool
        Of the class: whether one has reached the place that reports it.
    """

    arrived = False

    def __init__(self, number: int) -> None:
        self.number, self.message = number, ENDING[signal.Signals(number)]
        super().__init__(self.message)

    def __del__(self) -> None:
        if not Ended.arrived:
            signal.setitimer(signal.ITIMER_REAL, _LATER_SECONDS)


def raise_signals() -> None:
    """Raise `Ended` for signals that end a run, Ctrl-C among them."""
    handle_signals(_end)
    # Python reports exceptions that it drops. This one is raised again.
    sys.unraisablehook = lambda lost: None if lost.exc_type is Ended else sys.__unraisablehook__(lost)


def _end(number: int, frame: FrameType | None) -> None:
    # A second signal would interrupt the cleaning up after the first.
    handle_signals(signal.SIG_IGN)
    signal.signal(signal.SIGALRM, lambda *_: _raise(number))
    _raise(number)


def _raise(number: int) -> None:
    raise Ended(number)


def open_closed_streams() -> None:
    """Replace standard streams that are closed. The next file to be opened would otherwise take the place of one.

    Writing to a closed stdout is an error. Messages to a closed stderr are dropped.
    """
    for descriptor in (_STDIN, _STDOUT, _STDERR):
        try:
            os.fstat(descriptor)
        except OSError:
            # The system gives the lowest free descriptor, which is this one.
            os.open(os.devnull, os.O_WRONLY if descriptor == _STDERR else os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_ClosedStdout(), encoding="utf-8", write_through=True)
    if sys.stderr is None:
        sys.stderr = os.fdopen(_STDERR, "w", closefd=False)


class _ClosedStdout(io.BytesIO):
    """A closed stdout. Writing to it is an error."""

    def write(self, data: object) -> int:
        raise InputError("stdout", "", "is closed", "redirect it, or name a file with -o")


def drop_unwritten() -> None:
    """Drop output that the standard streams do not accept. Python would try again at exit, and complain."""
    for stream, descriptor in ((sys.stdout, _STDOUT), (sys.stderr, _STDERR)):
        try:
            stream.flush()
        except (OSError, ValueError, InputError):
            _discard(descriptor)


def _discard(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def show_if_open(show: Callable[[], object]) -> None:
    """Show a message on stderr, unless nobody reads that any more."""
    try:
        show()
    except OSError:
        _discard(_STDERR)


class MessageHandler(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes messages to stderr. If nobody reads that any more, the work goes on without them."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Drop further messages if stderr can't be written; `emit` calls this."""
        if isinstance(sys.exception(), OSError):
            _discard(_STDERR)
        else:
            super().handleError(record)
