"""What tests start for `python -m pairhmm`, or another module."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

INTERPRETER = (sys.executable, "-m", "pairhmm")


@cache
def command(module: str = "pairhmm") -> tuple[str, ...]:
    """The command line without its arguments: a client of server.py, which starts now; else an interpreter's own.

    Take `INTERPRETER` where a test sends signals, sets limits, or is about the start of a process.
    """
    if not hasattr(os, "pidfd_open"):  # Linux has it
        return (sys.executable, "-m", module)
    server, client = (str(Path(__file__).with_name(name)) for name in ("server.py", "client.py"))
    process = subprocess.Popen(
        [sys.executable, server, module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(process.communicate)  # it ends when its stdin does
    return (sys.executable, "-I", "-S", client, process.stdout.readline().rstrip("\n"))
