"""Unpacked bytes of BAM: long records, files that are let go, and blocks that no one needs."""

from __future__ import annotations

import pytest

from pairhmm.io.alignments.unpacked_bam import UnpackedBam
from pairhmm.io.files.bgzf_blocks import Block, DamagedBlockError


class Closed:
    """Counts its calls."""

    def __init__(self):
        self.count = 0

    def __call__(self):
        self.count += 1


def batches_of(data, size):
    """Batches of one block of `size` bytes each."""
    for at in range(0, len(data), size):
        yield [Block(at, data[at : at + size])]


def damaged():
    raise DamagedBlockError
    yield


@pytest.mark.parametrize("batches", [damaged, lambda: batches_of(b"short", 5)], ids=["damaged", "begins behind it"])
def test_a_file_whose_first_block_is_damaged_is_closed(batches):
    close = Closed()
    with pytest.raises(DamagedBlockError):
        UnpackedBam(batches(), 6, None, close)
    assert close.count == 1


def taken_with(unpacked, sizes):
    """The records by their sizes, each with the number of times that more was unpacked for it."""
    for size in sizes:
        extended = 0
        while len(unpacked.held()[0]) - unpacked.at < size:
            assert unpacked.extend()
            extended += 1
        data, at, _ = unpacked.held()
        unpacked.at += size
        yield data[at : at + size].tobytes(), extended


def test_a_record_of_many_batches_is_joined_once():
    """Joined again for each batch, the time would grow with the square of its size."""
    sizes = [40, 5_000, 36, 36, 1_003, 40]
    records = [(size - 4).to_bytes(4, "little") + bytes([number] * (size - 4)) for number, size in enumerate(sizes)]
    unpacked = UnpackedBam(batches_of(b"".join(records), 10), 0, None, Closed())
    given = list(taken_with(unpacked, sizes))
    assert [record for record, _ in given] == records
    # A second time where the size itself has to be unpacked first.
    assert max(extended for _, extended in given) <= 2
    assert not unpacked.extend()


def test_a_damaged_size_takes_the_rest_of_the_file_once():
    unpacked = UnpackedBam(batches_of((1 << 30).to_bytes(4, "little") + bytes(5_000), 100), 0, None, Closed())
    assert unpacked.extend()
    assert len(unpacked.held()[0]) == 5_004
    with pytest.raises(DamagedBlockError):
        unpacked.extend()


def test_records_before_a_damaged_block_are_given():
    def batches():
        yield from batches_of((36).to_bytes(4, "little") + bytes(36), 10)
        yield []
        raise DamagedBlockError

    unpacked = UnpackedBam(batches(), 0, None, Closed())
    assert [len(record) for record, _ in taken_with(unpacked, [40])] == [40]
    with pytest.raises(DamagedBlockError):
        while unpacked.extend():
            pass
