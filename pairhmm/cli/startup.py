"""Start of a command: signals during imports, and tuning of the process.

CPU time that each line saves, with runs in turns and one thread:

| line | saves |
|---|---|
| malloc keeps freed memory | 0.16 of 2.8 s for `call` of 250,000 reads; half of the system's time |
| no garbage collection while a command is imported | 17 of 450 ms for `call` of 1,700 reads |
| `gc.freeze` after it: modules stay | 18 of 450 ms there |
| `gc.freeze` at exit | 39 of 243 ms for `--help` |
| a large first frame | 25 of 197 ms for `call` of one site, in 1,700 mappings of memory |
| `hashlib`, `tomllib`, `fastx` and `sample_sheet` are imported where they are used, by few runs | 7 of 197 ms there |

OpenBLAS gets one thread: products of matrices are small here, and each thread would take memory.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
from collections.abc import Callable
from importlib import import_module
from types import FrameType, ModuleType

ENDING = {
    signal.SIGINT: "interrupted",
    signal.SIGTERM: "terminated",
    signal.SIGHUP: "the terminal was closed (hang-up)",
}
"""Signals that end a run, and the message about each."""

SIGNALLED = 128
"""The exit code is this plus the signal's number."""

_STDERR = 2

# Slots of the first frame, for the interpreter to map 512 KB: half of it is left for all other frames.
_FIRST_FRAME = 1 << 15


def handle_signals(handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
    """Call `handler` for signals that end a run. A signal that is ignored, as hang-ups are under nohup, stays so."""
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def end_at_once(number: int, frame: FrameType | None) -> None:
    """End this process with a line and an exit code, while a command is imported and there is nothing to clean up.

    An exception would leave the imports with a traceback, or be lost in them.
    """
    try:
        os.write(_STDERR, f"pairhmm: error: {ENDING[signal.Signals(number)]}\n".encode())
    finally:
        os._exit(SIGNALLED + number)


def with_large_frame(function: Callable[[], None]) -> Callable[[], None]:
    """The function, with a frame behind which the frames of all that it calls have room.

    Python maps memory for frames by 16 KB, and unmaps it as soon as it is empty: for every call of a loop that happens
    to run at the end of such a chunk.
    """
    function.__code__ = function.__code__.replace(co_stacksize=_FIRST_FRAME)
    return function


def set_up() -> None:
    """Set what libraries read when they are loaded, and how memory is freed."""
    from pairhmm.process import keep_freed_memory

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    keep_freed_memory()
    atexit.register(gc.freeze)


def import_command(module: str) -> ModuleType:
    """The module of a subcommand. The garbage collector passes over what imports make: it stays."""
    gc.disable()
    try:
        return import_module(module)
    finally:
        gc.freeze()
        gc.enable()
