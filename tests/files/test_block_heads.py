"""A block whose head is damaged, near a file's start, is found before htslib's threads wait for each other."""

from __future__ import annotations

import zlib

import pytest

from pairhmm.errors import InputError
from pairhmm.files.block_heads import check_bytes, check_file

END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")


def block(payload: bytes) -> bytes:
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = deflate.compress(payload) + deflate.flush()
    head = bytes.fromhex("1f8b08040000000000ff060042430200") + (len(packed) + 25).to_bytes(2, "little")
    return head + packed + zlib.crc32(payload).to_bytes(4, "little") + len(payload).to_bytes(4, "little")


FIRST, SECOND = block(b"first" * 20), block(b"second" * 20)
SOUND = FIRST + SECOND + END
BAD_HEAD = FIRST + b"AAAA" + SECOND[4:] + END
TOO_LONG = FIRST + SECOND[:16] + b"\xff\xff" + SECOND[18:] + END


def test_sound_blocks_and_other_files_pass(tmp_path):
    for content in (SOUND, b"", b"@HD\tVN:1.6\n", zlib.compress(b"x", 9)):
        (tmp_path / "x").write_bytes(content)
        check_file(str(tmp_path / "x"), 2)
        check_bytes("-", content)


@pytest.mark.parametrize("content", [BAD_HEAD, TOO_LONG])
def test_a_damaged_head(tmp_path, content):
    (tmp_path / "x.bam").write_bytes(content)
    with pytest.raises(InputError, match=r"x.bam: is damaged near byte \d+; copy or make it again"):
        check_file(str(tmp_path / "x.bam"), 2)


def test_a_stream_is_looked_at_as_far_as_it_was_read():
    check_bytes("-", SOUND[: len(FIRST) + 10])
    with pytest.raises(InputError, match=f"-: is damaged near byte {len(FIRST)}"):
        check_bytes("-", BAD_HEAD)
