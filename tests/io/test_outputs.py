"""Outputs are whole or not there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from pairhmm.errors import InputError
from pairhmm.io import outputs
from pairhmm.io.intervals import Interval, write_beds
from pairhmm.io.outputs import open_binary_output, open_output, scratch_beside, whole_files

FORMS = pytest.mark.parametrize(("opened", "text"), [(open_output, "text"), (open_binary_output, b"text")])


@FORMS
def test_renamed_when_whole(tmp_path, opened, text):
    target = tmp_path / "out.txt"
    with opened(target) as out:
        out.write(text)
        assert not target.exists()
    assert target.read_text() == "text"
    assert os.listdir(tmp_path) == ["out.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_nothing_is_left_of_a_failed_run(tmp_path, error):
    target = tmp_path / "out.txt"
    target.write_text("before")
    with pytest.raises(error), open_output(target) as out:
        out.write("half")
        raise error
    assert os.listdir(tmp_path) == ["out.txt"]
    assert target.read_text() == "before"


def test_what_a_killed_process_left_goes_with_the_next_run(tmp_path):
    """And what a living one is writing, or has another name, stays."""
    target = tmp_path / "out.vcf.gz"
    writer = (
        "import sys, time; from pathlib import Path; from pairhmm.io.outputs import whole_files\n"
        "with whole_files(sys.argv[1], '.tbi') as scratch:\n"
        "    scratch.write_text('half'); Path(f'{scratch}.tbi').write_text('half'); print('.', flush=True)\n"
        "    time.sleep(600)"
    )
    command = [sys.executable, "-c", writer, str(target)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.read(1) == b"."
        with whole_files(target) as scratch:
            scratch.write_text("whole")
        assert len(os.listdir(tmp_path)) == 3
        process.send_signal(signal.SIGKILL)
    (tmp_path / ".out.vcf.gz").write_text("another's")
    with whole_files(target) as scratch:
        scratch.write_text("whole")
    assert sorted(os.listdir(tmp_path)) == [".out.vcf.gz", "out.vcf.gz"]


def test_companions_come_along(tmp_path):
    target = tmp_path / "out.vcf.gz"
    with whole_files(target, ".tbi") as scratch:
        scratch.write_text("data")
        scratch.with_name(scratch.name + ".tbi").write_text("index")
    assert sorted(os.listdir(tmp_path)) == ["out.vcf.gz", "out.vcf.gz.tbi"]


@FORMS
def test_full_disk(opened, text):
    with pytest.raises(InputError, match=r"/dev/full: No space left on device; free some space"):
        with opened("/dev/full") as out:
            out.write(text * 100_000)


def test_folder_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="folder does not exist"), open_output(tmp_path / "none" / "out.txt"):
        pass


def test_a_folder_is_no_output(tmp_path):
    with pytest.raises(InputError, match="is a folder"), open_output(tmp_path):
        pass


def test_companions_of_an_earlier_run_go(tmp_path):
    target = tmp_path / "out.vcf.gz"
    (tmp_path / "out.vcf.gz.csi").write_text("of other content")
    with whole_files(target, ".tbi", ".csi") as scratch:
        scratch.write_text("data")
    assert os.listdir(tmp_path) == ["out.vcf.gz"]


def test_scratch_is_gone_at_the_end(tmp_path):
    with scratch_beside(tmp_path / "x.bcf") as text:
        text.write_text("data")
    assert os.listdir(tmp_path) == []


@FORMS
def test_stdout(capfd, opened, text):
    with opened("-") as out:
        out.write(text)
    assert capfd.readouterr().out == "text"


def test_a_folder_of_many_outputs_is_listed_once(tmp_path, monkeypatch):
    listed = []
    original = os.listdir
    monkeypatch.setattr(outputs.os, "listdir", lambda folder: listed.append(folder) or original(folder))
    abandoned = tmp_path / ".01234567.b.bed"
    abandoned.write_text("left by a killed run")
    write_beds(tmp_path, {name: [Interval("one", 1, 2)] for name in ("a.bed", "b.bed", "c.bed")})
    assert sorted(original(tmp_path)) == ["a.bed", "b.bed", "c.bed"]
    # And for what else the killed run left of its output.
    assert len(listed) == 2
