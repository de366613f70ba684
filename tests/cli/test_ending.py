"""Signals that come where Python drops exceptions, and while a command is imported."""

import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

DROPS = """
import os, signal, sys, time
from pairhmm.cli import ending

class Dropping:
    def __del__(self):
        os.kill(os.getpid(), int(sys.argv[1]))
        time.sleep(0)

ending.raise_signals()
try:
    Dropping()
    time.sleep(30)
except ending.Ended as ended:
    print(ended.number)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_not_lost(number):
    command = [sys.executable, "-c", DROPS, str(int(number))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout == f"{int(number)}\n"
    assert done.stderr == ""


IMPORTS = """
import os, sys

class Importing:
    def find_spec(self, name, path, target=None):
        if name == wanted:
            os.kill(os.getpid(), int(number))

wanted, number = sys.argv[1:]
sys.meta_path.insert(0, Importing())
from pairhmm.__main__ import main

sys.argv[1:] = ["call", "--help"]
main()
"""


@pytest.mark.parametrize(
    ("name", "number", "told"),
    [
        ("pairhmm.cli.main", signal.SIGINT, "interrupted"),
        ("rich_click", signal.SIGTERM, "terminated"),
        ("click.types", signal.SIGHUP, "hang-up"),
        ("pairhmm.calling.cli", signal.SIGINT, "interrupted"),
    ],
)
def test_a_signal_while_a_command_is_imported_is_one_line(name, number, told):
    command = [sys.executable, "-c", IMPORTS, name, str(int(number))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 128 + number
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("pairhmm: error: ")
    assert told in line


def test_an_ignored_signal_stays_ignored_while_a_command_is_imported():
    ignore = "import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
    command = [sys.executable, "-c", ignore + IMPORTS, "rich_click", str(int(signal.SIGHUP))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_little_is_imported_before_signals_are_heeded():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    module = project["project"]["scripts"]["pairhmm"].removesuffix(":main")
    code = f"import sys; before = set(sys.modules); import {module}; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    own = [one for one in done.stdout.split() if one.startswith("pairhmm")]
    assert own == [
        "pairhmm",
        "pairhmm.__main__",
        "pairhmm.cli",
        "pairhmm.cli.startup",
    ]
    assert not {"typing", "logging", "click", "rich_click"} & set(done.stdout.split())
