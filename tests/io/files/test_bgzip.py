"""Bgzipped text: what comes out is what went in, for every kind of text, way of writing it, and number of threads."""

from __future__ import annotations

import gzip
import io
import random

import pysam
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairhmm.compiled import is_compiled, native
from pairhmm.io.files import bgzip
from pairhmm.io.files.bgzf_blocks import blocks_from
from pairhmm.io.files.bgzip import BLOCK_TEXT, END, BgzipText

_RANDOM = random.Random(5)
_LINES = b"".join(b"s\tchr1\t%d\t0.%06d\tfloat32\n" % (at, _RANDOM.randrange(10**6)) for at in range(9000))


def _rare_letters():
    """Each letter is as frequent as the next two rarer ones together. Their best code is longer than deflate allows."""
    counts = [1, 1]
    while len(counts) < 23:
        counts.append(sum(counts[-2:]))
    letters = [letter for letter, count in enumerate(counts) for _ in range(count)]
    _RANDOM.shuffle(letters)
    return bytes(letters)


TEXTS = {
    "nothing": b"",
    "a letter": b"a",
    "seven letters": b"abcdefg",
    "lines": _LINES,
    "no pattern": _RANDOM.randbytes(200_000),
    "a block": _RANDOM.randbytes(BLOCK_TEXT),
    "one letter": bytes(3 * BLOCK_TEXT),
    "far matches": (_RANDOM.randbytes(32_768) + b"x") * 3,
    "near matches": b"ab" * 100_000,
    "rare letters": _rare_letters(),
}


def unpacked(data):
    blocks = [block.data for some in blocks_from(lambda at, size: data[at : at + size], 0) for block in some]
    assert all(len(block) == BLOCK_TEXT for block in blocks[:-2]) and blocks[-1] == b"" and data.endswith(END)
    return b"".join(blocks)


@pytest.fixture(params=["compiled", "python"])
def way(request, require, monkeypatch):
    if request.param == "python":
        monkeypatch.setattr(bgzip, "is_compiled", lambda: False)
    else:
        require("cpu", is_compiled(), "the compiled part is not installed")


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("name", TEXTS)
def test_text_comes_back(tmp_path, name, threads):
    path = tmp_path / "x.gz"
    with BgzipText(path, threads) as out:
        for at in range(0, len(TEXTS[name]), 50_001):
            out.write(TEXTS[name][at : at + 50_001])
    assert gzip.decompress(path.read_bytes()) == TEXTS[name] == unpacked(path.read_bytes())
    assert out.size == len(TEXTS[name])


def test_bytes_are_the_same_for_every_number_of_threads_and_every_cut(tmp_path):
    text, made = _LINES * 20, set()
    for threads, size in ((1, 1000), (1, len(text)), (2, 77_777), (4, 3_000_000), (16, 65_280)):
        with BgzipText(tmp_path / "x.gz", threads) as out:
            for at in range(0, len(text), size):
                out.write(text[at : at + size])
        made.add((tmp_path / "x.gz").read_bytes())
    assert len(made) == 1


def test_size_is_near_that_of_zlib(require):
    """It would otherwise show only as larger files that something is not found."""
    require("cpu", is_compiled(), "the compiled part is not installed")
    plain = io.BytesIO()
    with gzip.GzipFile(fileobj=plain, mode="wb", compresslevel=6) as out:
        out.write(_LINES)
    assert sum(map(len, native.bgzf_blocks(_LINES, 1))) < 1.05 * len(plain.getvalue())


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.binary(min_size=1, max_size=12), st.integers(1, 400)), max_size=30))
def test_any_repeats(pieces):
    if not is_compiled():
        return
    text = b"".join(piece * count for piece, count in pieces)
    assert gzip.decompress(b"".join(native.bgzf_blocks(text, 1))) == text


@pytest.mark.usefixtures("way")
def test_places(tmp_path):
    with BgzipText(tmp_path / "x.gz", 2) as out:
        out.write(_LINES.decode())
    with pysam.BGZFile(str(tmp_path / "x.gz"), "rb", index=None) as lines:
        for at in (0, 10, BLOCK_TEXT - 1, BLOCK_TEXT, 2 * BLOCK_TEXT + 5, len(_LINES)):
            lines.seek(out.place(at))
            assert lines.read(20) == _LINES[at : at + 20]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_failed_write_is_an_error_of_the_system(threads):
    with pytest.raises(OSError, match="No space"), BgzipText("/dev/full", threads) as out:
        for _ in range(50):
            out.write(TEXTS["no pattern"])
