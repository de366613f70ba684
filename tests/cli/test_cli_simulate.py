"""`pairhmm simulate` as a command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "pairhmm", "simulate", *arguments], capture_output=True, text=True)


def test_simulate_writes_a_folder_and_tells_what_is_in_it(tmp_path: Path) -> None:
    done = run("-o", str(tmp_path / "demo"), "--length", "5000", "--snvs", "3", "--indels", "2", "--coverage", "4")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "3 SNVs, 2 indels, 67 read pairs" in done.stderr
    assert (tmp_path / "demo" / "reads.bam.bai").exists()


def test_a_bad_option_is_one_line_and_exit_code_two(tmp_path: Path) -> None:
    done = run("-o", str(tmp_path / "demo"), "--length", "10")
    assert done.returncode == 2
    assert "--length: must be at least 2000 bases a contig" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "demo").exists()
