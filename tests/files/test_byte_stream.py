"""Bytes of files that are packed in one way and another."""

import gzip
import os
import threading

import numpy as np
import pytest

from pairhmm.errors import InputError
from pairhmm.files.bgzip import BgzipText
from pairhmm.files.byte_stream import ByteStream
from pairhmm.files.text_lines import read_texts
from pairhmm.variants.call_reader import CalledSites

END = 28
"""Bytes of BGZF's end marker."""


def packed(path, text):
    with BgzipText(path) as out:
        out.write(text)
    return path.read_bytes()


@pytest.fixture
def parts(tmp_path):
    """Text of many blocks in BGZF, and text in gzip."""
    rng = np.random.default_rng(1)
    text = bytes(rng.integers(32, 127, 300_000, dtype=np.uint8)) + b"\n"
    return text, packed(tmp_path / "a.gz", text), b"behind\n", gzip.compress(b"behind\n")


def through_pipe(content):
    """The path of a pipe that gives some bytes."""
    reading, writing = os.pipe()

    def write():
        with open(writing, "wb") as out:
            out.write(content)

    threading.Thread(target=write, daemon=True).start()
    return f"/dev/fd/{reading}"


@pytest.fixture(params=["file", "pipe"])
def path_of(request, tmp_path):
    def make(content):
        if request.param == "pipe":
            return through_pipe(content)
        (tmp_path / "x.gz").write_bytes(content)
        return str(tmp_path / "x.gz")

    return make


@pytest.mark.parametrize("kept", [0, END], ids=["without marker", "with marker"])
def test_gzip_behind_bgzf(parts, path_of, kept):
    text, blocks, behind, zipped = parts
    blocks = blocks[: len(blocks) - END + kept]
    for content, expected in ((blocks + zipped, text + behind), (blocks + zipped + zipped, text + behind + behind)):
        assert b"".join(read_texts(path_of(content))) == expected


def test_bgzf_behind_gzip(parts, path_of):
    text, blocks, behind, zipped = parts
    assert b"".join(read_texts(path_of(zipped + blocks))) == behind + text
    assert b"".join(read_texts(path_of(blocks + zipped + blocks))) == text + behind + text


@pytest.mark.parametrize("lost", [1, 8, 9, 20])
def test_gzip_behind_bgzf_that_is_cut_off(parts, path_of, lost):
    _, blocks, _, zipped = parts
    with pytest.raises(InputError, match=r"is cut off: its (gzip stream has no end|end marker is missing)"):
        list(read_texts(path_of((blocks + zipped)[:-lost])))


@pytest.mark.parametrize("lost", [1, END - 1, END, END + 1, 100_000])
def test_bgzf_that_is_cut_off(parts, path_of, lost):
    with pytest.raises(InputError, match=r"is cut off"):
        list(read_texts(path_of(parts[1][:-lost])))


def test_bgzf_with_other_bytes_behind_it(parts, path_of):
    with pytest.raises(InputError, match=r"is cut off|is damaged"):
        list(read_texts(path_of(parts[1][:-END] + b"\x1f\x8b\x07 something else")))


def test_calls_with_gzip_behind_bgzf(tmp_path):
    header = "##fileformat=VCFv4.3\n##contig=<ID=one>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
    first, second = (f"one\t{pos}\t.\tA\tC\t.\t.\t.\n" for pos in (1, 2))
    (tmp_path / "x.vcf.gz").write_bytes(packed(tmp_path / "a.gz", header + first) + gzip.compress(second.encode()))
    with CalledSites(str(tmp_path / "x.vcf.gz")) as sites:
        assert [site.pos for site in sites] == [0, 1]


class Unpacker:
    def readinto(self, buffer):
        raise OverflowError("a size that nobody thought of")


def test_whatever_unpacking_raises_is_damage(parts, tmp_path, monkeypatch):
    (tmp_path / "x.gz").write_bytes(parts[1])
    with ByteStream(str(tmp_path / "x.gz"), lambda _: None) as stream:
        monkeypatch.setattr(stream, "_unpacked", Unpacker())
        with pytest.raises(InputError, match=r"x\.gz: is damaged"):
            stream.fill(np.empty(10, dtype=np.uint8))
