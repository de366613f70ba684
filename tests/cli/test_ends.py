"""Signals that come where Python drops exceptions, and the end of the process."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

DROPS = """
import os, signal, sys, time
from pairhmm.cli import ends

class Dropping:
    def __del__(self):
        os.kill(os.getpid(), int(sys.argv[1]))
        time.sleep(0)

ends.heed_signals()
try:
    Dropping()
    time.sleep(30)
except ends.Ended as ended:
    ends.settle()
    print(ended.number)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_not_lost(number):
    command = [sys.executable, "-c", DROPS, str(int(number))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout == f"{int(number)}\n"
    assert done.stderr == ""


LEAVES = """
import atexit, sys, threading, time
from pairhmm.cli import ends

atexit.register(lambda: print("handler", flush=True))
if sys.argv[1] == "thread":
    threading.Thread(target=lambda: (time.sleep(0.05), print("thread"))).start()
ends.leave(3)
"""


@pytest.mark.parametrize(("kind", "told"), [("alone", "handler\n"), ("thread", "thread\nhandler\n")])
def test_leaving_runs_handlers_and_waits_for_threads(kind, told):
    done = subprocess.run([sys.executable, "-c", LEAVES, kind], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (3, told, "")
