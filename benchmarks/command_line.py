"""The command line, as several benchmarks run it."""

from __future__ import annotations

import subprocess
import sys


def run(*arguments: object) -> None:
    """Run one command in a process of its own."""
    subprocess.run([sys.executable, "-m", "pairhmm", "-q", *map(str, arguments)], check=True)
