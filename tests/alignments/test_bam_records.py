"""Unpacked records of BAM: long ones, damaged files, and blocks that no one needs."""

import struct
from types import SimpleNamespace

import numpy as np
import pytest

from pairhmm.alignments.bam_records import BamStream, ahead_to, first_record
from pairhmm.files.bgzf import DamagedBlockError, block_reader
from pairhmm.files.bgzip import PackedText
from pairhmm.native import native

HIGHEST = 93


def record(name, bases=4, start=0):
    """A record of a read that is all A, with qualities of 30."""
    body = struct.pack("<iiBBHHHiiii", 0, start, len(name) + 1, 60, 0, 1, 0, bases, -1, -1, 0)
    body += name.encode() + b"\0" + struct.pack("<I", bases << 4) + b"\x11" * ((bases + 1) // 2) + bytes([30] * bases)
    return struct.pack("<i", len(body)) + body


RECORDS = [record("short"), record("long", 5_000), record("next"), record("last", 33)]
NAMES = ["short", "long", "next", "last"]


def packed(data, size):
    """Blocks of `size` unpacked bytes."""
    return [b"".join(PackedText.of(data[at : at + size]).blocks[:1]) for at in range(0, len(data), size)]


def parser():
    rank, length = np.zeros(1, np.int32), np.array([10_000])
    return native.AlignmentParser(rank, length, 4, 0, -1, HIGHEST, {}, 0, "", 1 << 30, False)


def stream_of(file, begin=0, behind=None, is_ahead=False):
    """The records of a file in memory, and whether it was closed."""
    closed = []
    reader = block_reader(lambda at, size: file[at : at + size], begin >> 16)
    ahead = ahead_to(iter(reader.next, None), behind) if is_ahead else None
    return BamStream(native.BamStream(begin, behind), reader, ahead, lambda: closed.append(1)), closed


def names_of(taken):
    _, names, ends, *_ = taken
    return [names[begin:end].decode() for begin, end in zip([0, *ends[:-1]], ends, strict=False)]


@pytest.mark.parametrize("is_ahead", [False, True], ids=["alone", "ahead"])
@pytest.mark.parametrize("size", [10, 100, 60_000])
def test_records_of_many_blocks(size, is_ahead):
    stream, closed = stream_of(b"".join(packed(b"".join(RECORDS), size)), is_ahead=is_ahead)
    taking = parser()
    assert stream.parse(taking, 100) == "more"
    assert names_of(taking.take()) == NAMES
    stream.close()
    assert closed == [1]


@pytest.mark.parametrize("is_ahead", [False, True], ids=["alone", "ahead"])
@pytest.mark.parametrize(
    "damage", [b"damaged", b"", b"\x1f\x8b\x08\x04"], ids=["damaged", "within a record", "cut off"]
)
def test_records_before_damage_are_given(damage, is_ahead):
    blocks = packed(b"".join(RECORDS), 1_000)[:-1]
    stream, _ = stream_of(b"".join(blocks) + damage, is_ahead=is_ahead)
    taking = parser()
    if damage:
        with pytest.raises(DamagedBlockError):
            stream.parse(taking, 100)
    else:
        assert stream.parse(taking, 100) == "damaged"
    assert names_of(taking.take()) == ["short"]


def test_a_damaged_size_takes_the_rest_of_the_file():
    stream, _ = stream_of(b"".join(packed((1 << 30).to_bytes(4, "little") + bytes(5_000), 100)))
    assert stream.parse(parser(), 100) == "damaged"


@pytest.mark.parametrize("begin", [6, 2_000])
def test_a_place_behind_the_file_is_damage(begin):
    stream, _ = stream_of(packed(b"short", 100)[0], begin)
    assert stream.parse(parser(), 100) == "damaged"


@pytest.mark.parametrize("count", range(5))
@pytest.mark.parametrize("size", [10, 100, 60_000])
def test_records_between_two_places(size, count):
    """The record that begins at the second place is not given, though its block is unpacked."""
    blocks = packed(b"".join(RECORDS), size)
    begins = [sum(map(len, RECORDS[:number])) for number in range(5)]
    addresses = np.cumsum([0, *map(len, blocks)])
    places = [int(addresses[at // size]) << 16 | at % size for at in begins]
    for first in range(count + 1):
        stream, _ = stream_of(b"".join(blocks), places[first], places[count])
        taking = parser()
        assert stream.parse(taking, 100) == "more"
        assert names_of(taking.take()) == NAMES[first:count]


def test_reads_that_tables_can_not_take_are_found():
    """Names with control characters, qualities above the highest, and CIGARs of another length."""
    high = RECORDS[0][:-1] + bytes([HIGHEST + 1])
    for wrong in (record("ta\tb"), high):
        stream, _ = stream_of(b"".join(packed(RECORDS[0] + wrong, 1_000)))
        taking = parser()
        stream.parse(taking, 100)
        assert taking.take()[-1] == 1


def header_of(text, contigs):
    """An unpacked header."""
    names = [b"contig%d\0" % number for number in range(contigs)]
    parts = [b"BAM\1", number_of(len(text)), text, number_of(contigs)]
    return b"".join([*parts, *(number_of(len(name)) + name + number_of(1000) for name in names)])


def number_of(value):
    return value.to_bytes(4, "little")


@pytest.mark.parametrize("contigs", [0, 1, 7, 300])
@pytest.mark.parametrize("size", [10, 913, 60_000])
def test_a_header_of_many_blocks(contigs, size):
    header = header_of(b"@CO\t" + b"x" * 900, contigs)
    file = b"".join(packed(header + b"".join(RECORDS), size))
    first = first_record(lambda at, size: file[at : at + size])
    stream, _ = stream_of(file, first)
    taking = parser()
    stream.parse(taking, 100)
    assert names_of(taking.take()) == NAMES


@pytest.mark.parametrize("end", [b"", b"damaged"], ids=["cut off", "damaged"])
def test_a_header_without_an_end(end):
    file = b"".join(packed(header_of(b"x" * 5_000, 3)[:-1], 100)) + end
    assert first_record(lambda at, size: file[at : at + size]) is None


@pytest.mark.parametrize("behind", [5, 30 << 16, 30 << 16 | 5, 1000 << 16, None])
def test_a_thread_unpacks_no_more_than_a_place_of_an_index_has(behind):
    """An index leads to many places of one batch. The one behind it would be unpacked for each of them in vain."""
    addresses, made = [0, 10, 20, 30, 40, 50], []

    def batches():
        for at in addresses:
            made.append(at)
            yield SimpleNamespace(address=[at])

    ahead = ahead_to(batches(), behind)
    assert [next(ahead).address[0] for _ in range(2)] == addresses[:2]
    ahead.close()
    assert made == addresses[:2]
    made.clear()
    ahead = ahead_to(batches(), behind)
    for at in [0, *(at for at in addresses[1:] if behind is None or at < behind >> 16)]:
        assert next(ahead).address[0] == at
    ahead.close()
    assert all(behind is None or at < (behind >> 16) + 10 for at in made)
    # A record may go on behind the end that an index gives.
    assert [batch.address[0] for batch in ahead_to(batches(), behind)] == addresses
