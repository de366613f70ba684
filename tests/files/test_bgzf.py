"""Blocks of BGZF one by one: what they hold and where they are, and an error for whatever is not right."""

import zlib

import numpy as np
import pysam
import pytest

from pairhmm.errors import InputError
from pairhmm.files import bgzf
from pairhmm.files.bgzf import BGZF_END, DamagedBlockError, blocks_from, check_block_heads, check_stream_heads
from pairhmm.files.bgzip import PackedText

END = len(BGZF_END)
FIRST, SECOND = (PackedText.of(text * 20).blocks[0] for text in (b"first", b"second"))
SOUND = FIRST + SECOND + BGZF_END
BAD_HEAD = FIRST + b"AAAA" + SECOND[4:] + BGZF_END
TOO_LONG = FIRST + SECOND[:16] + b"\xff\xff" + SECOND[18:] + BGZF_END


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """A file of several blocks, and what it holds."""
    path = tmp_path_factory.mktemp("blocks") / "x.gz"
    data = np.random.default_rng(2).bytes(300_000) + b"a" * 300_000
    with pysam.BGZFile(str(path), "w") as out:
        out.write(data)
    return path.read_bytes(), data


def unpacked(packed, address=0):
    """All blocks; the file gives at most 1,000 bytes at once."""

    def read(at, size):
        return packed[at : at + min(size, 1000)]

    return [block for batch in blocks_from(read, address) for block in batch]


def test_blocks_and_their_places(packed):
    file, data = packed
    blocks = unpacked(file)
    assert b"".join(block.data for block in blocks) == data
    assert len(blocks) > 5
    for number, block in enumerate(blocks):
        assert file[block.address : block.address + 2] == b"\x1f\x8b"
        assert unpacked(file, block.address) == blocks[number:]


def test_reading_grows_with_what_was_read():
    """It stays small where the caller soon has enough."""

    def sizes(enough):
        asked = []

        def read(at, size):
            asked.append(size >> 16)
            return file[at : at + size]

        assert b"".join(block.data for batch in blocks_from(read, 0, enough) for block in batch) == data
        return asked

    data = np.random.default_rng(3).bytes(40 << 16)
    file = b"".join(PackedText.of(data).blocks)
    assert sizes(None)[:6] == [1, 1, 2, 2, 2, 2]
    assert sizes(6 << 16)[:7] == [1, 1, 2, 2, 1, 1, 1]


def test_an_empty_block_in_the_middle_is_passed_over(packed):
    file, data = packed
    assert b"".join(block.data for block in unpacked(file + file)) == data * 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file[:-1],
        lambda file: file[: -END - 1] + file[-END:],
        lambda file: file + b"more",
        lambda file: b"\0" + file[1:],
        lambda file: file[:12] + b"XX" + file[14:],
        lambda file: file[:16] + b"\x1b\0" + file[18:],
        lambda file: file[:5000] + bytes([file[5000] ^ 1]) + file[5001:],
        # The checksum of the last block before the end marker.
        lambda file: file[: -END - 8] + b"\0\0\0\0" + file[-END - 4 :],
    ],
    ids=["cut", "cut inside", "behind the end", "magic", "field", "size", "content", "checksum"],
)
def test_damage(packed, damage):
    with pytest.raises(DamagedBlockError):
        unpacked(damage(packed[0]))


def test_a_wrong_size_asks_for_no_memory(packed):
    """As for htslib, the checksum alone decides."""
    file, data = packed
    changed = file[: -END - 4] + b"\xff\xff\xff\xff" + file[-END:]
    assert b"".join(block.data for block in unpacked(changed)) == data


def test_blocks_before_a_damaged_one_come_first(packed):
    file, data = packed
    third = unpacked(file)[2].address
    found = []
    batches = blocks_from(lambda at, size: (file[: third + 30] + b"damage" + file[third + 36 :])[at : at + size], 0)

    with pytest.raises(DamagedBlockError):
        for batch in batches:
            found += [block.data for block in batch]
    assert b"".join(found) == data[: sum(map(len, found))]
    assert len(found) == 2


def test_no_more_is_unpacked_than_the_caller_needs(packed, monkeypatch):
    """Reads of a short contig lie in a block or two."""
    file, _ = packed
    # All of these come with one reading.
    blocks = unpacked(file)[-5:]
    done = []
    unpack = bgzf.unpacked
    monkeypatch.setattr(bgzf, "isal_functions", lambda: None)
    monkeypatch.setattr(bgzf, "unpacked", lambda *given: done.append(given) or unpack(*given))
    batches = blocks_from(lambda at, size: file[at : at + size], blocks[0].address, blocks[1].address)
    assert next(batches) == blocks[:2]
    assert len(done) == 2
    assert next(batches) == blocks[2:3]
    assert [block for batch in batches for block in batch] == blocks[3:]


def test_sound_blocks_and_other_files_pass(tmp_path):
    for content in (SOUND, b"", b"@HD\tVN:1.6\n", zlib.compress(b"x", 9)):
        (tmp_path / "x").write_bytes(content)
        check_block_heads(str(tmp_path / "x"), 2)
        check_stream_heads("-", content)


@pytest.mark.parametrize("content", [BAD_HEAD, TOO_LONG])
def test_a_damaged_head(tmp_path, content):
    (tmp_path / "x.bam").write_bytes(content)
    with pytest.raises(InputError, match=r"x.bam: is damaged near byte \d+; copy or make it again"):
        check_block_heads(str(tmp_path / "x.bam"), 2)


def test_a_stream_is_looked_at_as_far_as_it_was_read():
    check_stream_heads("-", SOUND[: len(FIRST) + 10])
    with pytest.raises(InputError, match=f"-: is damaged near byte {len(FIRST)}"):
        check_stream_heads("-", BAD_HEAD)
