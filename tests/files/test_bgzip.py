"""Bgzipped text: what comes out is what went in, for every kind of text, library, and number of threads."""

import gzip
import random
import zlib
from concurrent.futures import ThreadPoolExecutor

import pysam
import pytest

from pairhmm.files import bgzip
from pairhmm.files.bgzf import BGZF_END, blocks_from
from pairhmm.files.bgzip import BLOCK_TEXT, BgzipText, PackedText

_RANDOM = random.Random(5)
_LINES = b"".join(b"s\tchr1\t%d\t0.%06d\tfloat32\n" % (at, _RANDOM.randrange(10**6)) for at in range(9000))
TEXTS = {
    "nothing": b"",
    "a letter": b"a",
    "lines": _LINES,
    "no pattern": _RANDOM.randbytes(200_000),
    "a block": _RANDOM.randbytes(BLOCK_TEXT),
    "one letter": bytes(3 * BLOCK_TEXT),
}


def unpacked(data):
    blocks = [block.data for some in blocks_from(lambda at, size: data[at : at + size], 0) for block in some]
    assert all(len(block) == BLOCK_TEXT for block in blocks[:-2]) and blocks[-1] == b"" and data.endswith(BGZF_END)
    return b"".join(blocks)


@pytest.fixture(params=["isal", "zlib"])
def library(request, monkeypatch):
    """zlib serves where isal has no wheel."""
    module = pytest.importorskip("isal.isal_zlib") if request.param == "isal" else zlib
    monkeypatch.setattr(bgzip, "deflate", module)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("name", TEXTS)
def test_text_comes_back(tmp_path, name, threads):
    path = tmp_path / "x.gz"
    with BgzipText(path, threads) as out:
        for at in range(0, len(TEXTS[name]), 50_001):
            out.write(TEXTS[name][at : at + 50_001])
    assert gzip.decompress(path.read_bytes()) == TEXTS[name] == unpacked(path.read_bytes())
    assert out.size == len(TEXTS[name])


def test_text_that_stands_apart(tmp_path):
    """It may be packed before. Every place of the text is found."""
    parts = [(_LINES[:100], False), (_LINES, True), (_LINES[:70_000], False), (b"x", True), (_LINES, True), (b"", True)]
    whole, made = b"".join(text for text, _ in parts), set()
    for threads, is_packed in ((1, False), (1, True), (3, False), (3, True)):
        path = tmp_path / "x.gz"
        with BgzipText(path, threads) as out:
            for text, is_apart in parts:
                if is_apart:
                    out.write_apart(PackedText.of(text) if is_packed else text)
                else:
                    out.write(text)
        assert out.size == len(whole)
        made.add(path.read_bytes())
        with pysam.BGZFile(str(path), "rb", index=None) as file:
            for at in (0, 99, 100, 65_280, 100 + 65_280, len(whole) // 2, len(whole) - 1, len(whole)):
                file.seek(out.virtual_offset(at))
                assert file.read(50) == whole[at : at + 50]
    assert len(made) == 1


def test_bytes_are_the_same_for_every_number_of_threads_and_every_cut(tmp_path):
    text, made = _LINES * 20, set()
    for threads, size in ((1, 1000), (1, len(text)), (2, 77_777), (4, 3_000_000), (16, 65_280)):
        with BgzipText(tmp_path / "x.gz", threads) as out:
            for at in range(0, len(text), size):
                out.write(text[at : at + size])
        made.add((tmp_path / "x.gz").read_bytes())
    assert len(made) == 1


@pytest.mark.parametrize("threads", [1, 2])
def test_a_failed_write_is_an_error_of_the_system(threads):
    with pytest.raises(OSError, match="No space"), BgzipText("/dev/full", threads) as out:
        for _ in range(50):
            out.write(TEXTS["no pattern"])


def test_bytes_do_not_depend_on_the_thread():
    """isal's level 1 hashed the address of its state, which is on the stack."""
    some = random.Random(7)
    begins = [some.randbytes(8).hex().encode() for _ in range(8000)]
    texts = [begin + b"\t" + begin for begin in begins]
    with ThreadPoolExecutor(1) as other:
        there = other.submit(lambda: [PackedText.of(text).blocks for text in texts])
    assert there.result() == [PackedText.of(text).blocks for text in texts]
