"""Outputs are whole or not there."""

import errno
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from pairhmm.errors import InputError
from pairhmm.files import output_folders, outputs
from pairhmm.files.outputs import (
    has_companions,
    open_binary_output,
    open_output,
    output_errors,
    put_in_place,
    scratch_beside,
    whole_files,
)
from pairhmm.sequences.intervals import Interval, write_beds

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
        "import sys, time; from pathlib import Path; from pairhmm.files.outputs import whole_files\n"
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


@FORMS
def test_full_disk(opened, text):
    with pytest.raises(InputError, match=r"/dev/full: No space left on device; free some space"):
        with opened("/dev/full") as out:
            out.write(text * 100_000)


def test_only_a_full_disk_asks_for_space(tmp_path):
    with pytest.raises(InputError, match=r"Read-only file system; choose another output$"):
        with output_errors(tmp_path / "out.txt"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))


def test_folder_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="folder does not exist"), open_output(tmp_path / "none" / "out.txt"):
        pass


def test_a_folder_that_takes_no_new_file(tmp_path, monkeypatch):
    """Permissions don't tell of it beforehand: a quota, say, or a network's file system."""
    make = os.open

    def refuse(path, flags, *mode):
        if flags & os.O_EXCL:
            raise OSError(errno.EDQUOT, "Disk quota exceeded", str(path))
        return make(path, flags, *mode)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(InputError, match=r"out\.txt: Disk quota exceeded; free some space or choose another output$"):
        with open_output(tmp_path / "out.txt"):
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


def test_a_folder_of_many_outputs_gets_all_or_none(tmp_path, monkeypatch):
    """Of two outputs, the second can't be moved, as where a signal ends the run."""
    files = {name: [Interval("one", 1, 2)] for name in ("a.bed", "b.bed")}

    def ended(path, final):
        if final.name == "b.bed":
            raise KeyboardInterrupt
        put_in_place(path, final)

    monkeypatch.setattr(output_folders, "put_in_place", ended)
    with pytest.raises(KeyboardInterrupt):
        write_beds(tmp_path / "new" / "folder", files)
    assert os.listdir(tmp_path) == []
    monkeypatch.undo()
    write_beds(tmp_path / "new" / "folder", files)
    assert sorted(os.listdir(tmp_path / "new" / "folder")) == ["a.bed", "b.bed"]


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
    with pytest.raises(InputError, match=rf"{protected}: is read-only; choose another output, or make it writable"):
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


def test_another_run_does_not_take_a_new_file_for_abandoned(tmp_path, monkeypatch):
    target = tmp_path / "x.txt"
    lock = outputs.lock

    def late(descriptor):
        # Another run of the same output cleans up between the making and the locking of this one's file.
        monkeypatch.setattr(outputs, "lock", lock)
        outputs._remove_abandoned(target)
        return lock(descriptor)

    monkeypatch.setattr(outputs, "lock", late)
    with whole_files(target) as scratch:
        outputs._remove_abandoned(target)
        scratch.write_text("whole")
    assert os.listdir(tmp_path) == ["x.txt"]
    assert target.read_text() == "whole"


def test_another_run_does_not_take_a_new_folder_for_abandoned(tmp_path, monkeypatch):
    lock = output_folders._locked

    def late(folder):
        output_folders._remove_abandoned(tmp_path)
        return lock(folder)

    monkeypatch.setattr(output_folders, "_locked", late)
    with output_folders.whole_folder(tmp_path, ["a", "b"], overwrite=False) as scratch:
        output_folders._remove_abandoned(tmp_path)
        for name in ("a", "b"):
            (scratch / name).write_text(name)
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


@pytest.fixture
def pipe(tmp_path):
    """A named pipe, the thread that reads it, and the list of what it read."""
    path, read = tmp_path / "pipe.vcf.gz", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()), daemon=True)
    reader.start()
    yield path, reader, read
    # Where nobody wrote, the reader still waits.
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    reader.join(5)


@pytest.mark.parametrize("is_linked", [False, True])
def test_a_pipe_is_written_and_stays(tmp_path, pipe, caplog, is_linked):
    path, reader, read = pipe
    target = path
    if is_linked:
        target = tmp_path / "link.vcf.gz"
        target.symlink_to(path)
    before = sorted(os.listdir(tmp_path))
    with whole_files(target, ".tbi") as scratch:
        assert not has_companions(scratch)
        scratch.write_bytes(b"text")
    reader.join(10)
    assert read == [b"text"]
    assert path.is_fifo()
    assert sorted(os.listdir(tmp_path)) == before
    assert f"{target} is not a regular file: it gets no index" in caplog.text


def test_a_pipe_in_the_place_of_a_companion_stays(tmp_path, pipe):
    path = pipe[0]
    (tmp_path / "x.vcf.gz.csi").symlink_to(path)
    with whole_files(tmp_path / "x.vcf.gz", ".tbi", ".csi") as scratch:
        scratch.write_text("data")
    assert path.is_fifo()
    assert (tmp_path / "x.vcf.gz.csi").is_symlink()


def test_a_pipe_in_a_folder_of_outputs_stays(tmp_path, pipe):
    path, reader, read = pipe
    with output_folders.whole_folder(tmp_path, [path.name, "other"], overwrite=True) as scratch:
        (scratch / path.name).write_bytes(b"text")
        (scratch / "other").write_bytes(b"other")
    reader.join(10)
    assert read == [b"text"]
    assert path.is_fifo()
    assert (tmp_path / "other").read_bytes() == b"other"


def test_text_to_be_converted_for_a_pipe_is_not_beside_it(tmp_path, pipe):
    path = pipe[0]
    with scratch_beside(path) as text:
        text.write_text("data")
        assert text.parent != tmp_path
    assert not text.exists()
