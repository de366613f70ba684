"""Outputs are whole or not there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from pairhmm.errors import InputError
from pairhmm.io.files import outputs
from pairhmm.io.files.outputs import open_binary_output, open_output, scratch_beside, whole_files
from pairhmm.io.sequences.intervals import Interval, write_beds

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
        "import sys, time; from pathlib import Path; from pairhmm.io.files.outputs import whole_files\n"
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


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path):
    (tmp_path / "real").mkdir()
    real, link = tmp_path / "real" / "x.vcf.gz", tmp_path / "link.vcf.gz"
    link.symlink_to("real/x.vcf.gz")
    for text in ("new", "newer"):
        with whole_files(link, ".tbi") as scratch:
            scratch.write_text(text)
            scratch.with_name(scratch.name + ".tbi").write_text(f"index of {text}")
        assert link.is_symlink()
        assert real.read_text() == text
        assert (tmp_path / "link.vcf.gz.tbi").read_text() == f"index of {text}"
    assert sorted(os.listdir(tmp_path)) == ["link.vcf.gz", "link.vcf.gz.tbi", "real"]
    assert os.listdir(tmp_path / "real") == ["x.vcf.gz"]


@pytest.mark.parametrize("protected", ["out.vcf.gz", "out.vcf.gz.tbi"])
def test_a_read_only_file_stays(tmp_path, protected):
    (tmp_path / protected).write_text("before")
    (tmp_path / protected).chmod(0o444)
    with pytest.raises(InputError, match=rf"{protected}: is read-only; choose another -o, or make it writable"):
        with whole_files(tmp_path / "out.vcf.gz", ".tbi"):
            pytest.fail("nothing should have been written")
    assert os.listdir(tmp_path) == [protected]
    assert (tmp_path / protected).read_text() == "before"


@pytest.mark.parametrize("length", [241, 242, 246, 251])
def test_long_names(tmp_path, length):
    name = "\N{LATIN SMALL LETTER O WITH STROKE}".encode() * ((length - 8) // 2)
    name = (name + b"x" * (length - 7 - len(name)) + b".vcf.gz").decode()
    assert len(name.encode()) == length
    for _ in range(2):
        with whole_files(tmp_path / name, ".tbi") as scratch:
            assert scratch.name.endswith(".vcf.gz")
            scratch.write_text("data")
            scratch.with_name(scratch.name + ".tbi").write_text("index")
    assert sorted(os.listdir(tmp_path)) == [name, f"{name}.tbi"]


def test_a_name_without_room_for_its_index(tmp_path):
    name = "x" * 248 + ".vcf.gz"
    with (
        pytest.raises(InputError, match=r"\.vcf\.gz: File name too long"),
        whole_files(tmp_path / name, ".tbi") as scratch,
    ):
        scratch.write_text("data")
        scratch.with_name(scratch.name + ".tbi").write_text("index")
    assert os.listdir(tmp_path) == []
