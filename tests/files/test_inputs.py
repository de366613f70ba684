"""What is checked of every input when it is opened."""

import bz2
import lzma
import os

import pytest

from pairhmm.errors import InputError
from pairhmm.files.destinations import kept_apart
from pairhmm.files.inputs import check_packing, opening, taken
from pairhmm.files.pipes import spooled

ZSTD = bytes.fromhex("28b52ffd0458190000610a0000000000000000000000")
PACKED = [
    ("xz", lzma.compress(b"text")),
    ("zstd", ZSTD),
    ("bzip2", bz2.compress(b"text")),
    ("bzip2", bz2.compress(b"")),
]


@pytest.mark.parametrize(("program", "content"), PACKED)
@pytest.mark.parametrize("check", [opening, taken])
def test_other_packers_are_named(tmp_path, program, content, check):
    path = tmp_path / "x.gz"
    path.write_bytes(content)
    with pytest.raises(
        InputError, match=rf"x\.gz: is packed by {program}, which is not read; unpack it \({program} -d"
    ):
        check(str(path))


@pytest.mark.parametrize("head", [b"", b"\x1f\x8b\x08", b"BZh9 a name", b">BZh\nACGT", b"\xfd7z"])
def test_other_heads(head):
    check_packing("x", head)


def test_a_copy_of_a_pipe_is_checked(tmp_path):
    reading, writing = os.pipe()
    os.write(writing, lzma.compress(b"text"))
    os.close(writing)
    with pytest.raises(InputError, match=rf"fd/{reading}: is packed by xz"), spooled(f"/dev/fd/{reading}"):
        pytest.fail("it was read")
    os.close(reading)


def test_a_pipe_is_read_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for _ in range(2):
        with kept_apart():
            opening(tmp_path / "pipe")
            with pytest.raises(InputError, match="link: is a pipe, and is read more than once; write it to a file"):
                opening(tmp_path / "link")


def test_files_are_read_often(tmp_path):
    (tmp_path / "x").write_text("text")
    with kept_apart():
        for path in (tmp_path / "x", tmp_path / "x", os.devnull, os.devnull, tmp_path / "none", tmp_path / "none"):
            opening(path)
