"""`pairhmm simulate` as a command."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.command_line.start import command


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*command(), "simulate", *arguments], capture_output=True, text=True)


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


SMALL = ("--length", "5000", "--coverage", "4")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", ["reference.fa", "reference.fa.fai", "truth.vcf.gz", "reads.bam"])
def test_what_is_there_stays_unless_forced(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    (tmp_path / "notes.txt").write_text("mine too")
    before = contents(tmp_path)
    done = run("-o", str(tmp_path), *SMALL)
    assert done.returncode == 2
    assert f"{tmp_path / name}: is there already; choose another -o, or write over it with --force" in done.stderr
    assert contents(tmp_path) == before
    assert run("-o", str(tmp_path), *SMALL, "--force").returncode == 0
    assert (tmp_path / name).read_bytes() != b"mine"
    assert (tmp_path / "notes.txt").read_text() == "mine too"


@pytest.mark.parametrize("taken", ["x.fq", "t.tsv"])
def test_signatures_and_samples_are_not_written_over_either(tmp_path: Path, taken: str) -> None:
    signatures, samples, truth = (str(tmp_path / name) for name in ("s.fa", "x.fq", "t.tsv"))
    lengths = ("--min-length", "30", "--max-length", "40")
    assert run("signatures", "-o", signatures, "--count", "2", *lengths).returncode == 0
    before = contents(tmp_path)
    again = run("signatures", "-o", signatures, "--count", "3", *lengths)
    assert again.returncode == 2 and "is there already" in again.stderr
    assert contents(tmp_path) == before
    assert run("signatures", "-o", signatures, "--count", "3", *lengths, "--force").returncode == 0
    (tmp_path / taken).write_text("mine")
    counts = ("--num-no-virus", "1", "--num-with-virus", "1", "--min-viruses", "1", "--max-viruses", "1")
    arguments = ("samples", "--signatures", signatures, "-o", samples, "--truth", truth, *counts, *lengths)
    refused = run(*arguments)
    assert refused.returncode == 2 and f"{taken}: is there already" in refused.stderr
    assert (tmp_path / taken).read_text() == "mine"
    assert run(*arguments, "--force").returncode == 0
    assert (tmp_path / taken).read_text() != "mine"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_stopped_run_leaves_no_folder(tmp_path: Path, number: signal.Signals) -> None:
    folder = tmp_path / "new" / "demo"
    process = started(folder, number)
    assert process.returncode == 128 + number
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_goes_with_the_next_one(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    started(folder, signal.SIGKILL)
    assert len(list(folder.iterdir())) == 1
    assert run("-o", str(folder), *SMALL).returncode == 0
    assert not list(folder.glob(".*"))


def started(folder: Path, number: signal.Signals) -> subprocess.Popen[bytes]:
    """A long run, ended by a signal once it has a folder to write to."""
    command = [sys.executable, "-m", "pairhmm", "simulate", "-o", str(folder), "--length", "30000000"]

    def heed() -> None:
        # A shell's background jobs ignore Ctrl-C and pass that on: not this one.
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with subprocess.Popen(command, stderr=subprocess.DEVNULL, preexec_fn=heed) as process:
        while not list(folder.glob(".*")) and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(number)
        try:
            process.wait(timeout=60)
        finally:
            process.kill()
    return process
