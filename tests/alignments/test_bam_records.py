"""Unpacked bytes of BAM: long records, files that are let go, and blocks that no one needs."""

from types import SimpleNamespace

import pytest

from pairhmm.alignments import bam_records
from pairhmm.alignments.bam_records import BamStream, ahead_to, read_header
from pairhmm.files.bgzf import Block, DamagedBlockError
from pairhmm.native import native


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
        BamStream(batches(), 6, None, close)
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
    unpacked = BamStream(batches_of(b"".join(records), 10), 0, None, Closed())
    given = list(taken_with(unpacked, sizes))
    assert [record for record, _ in given] == records
    # A second time where the size itself has to be unpacked first.
    assert max(extended for _, extended in given) <= 2
    assert not unpacked.extend()


def test_a_damaged_size_takes_the_rest_of_the_file_once():
    unpacked = BamStream(batches_of((1 << 30).to_bytes(4, "little") + bytes(5_000), 100), 0, None, Closed())
    assert unpacked.extend()
    assert len(unpacked.held()[0]) == 5_004
    with pytest.raises(DamagedBlockError):
        unpacked.extend()


def test_records_before_a_damaged_block_are_given():
    def batches():
        yield from batches_of((36).to_bytes(4, "little") + bytes(36), 10)
        yield []
        raise DamagedBlockError

    unpacked = BamStream(batches(), 0, None, Closed())
    assert [len(record) for record, _ in taken_with(unpacked, [40])] == [40]
    with pytest.raises(DamagedBlockError):
        while unpacked.extend():
            pass


def header_of(text, contigs):
    """An unpacked header."""
    names = [b"contig%d\0" % number for number in range(contigs)]
    parts = [b"BAM\1", number_of(len(text)), text, number_of(contigs)]
    return b"".join([*parts, *(number_of(len(name)) + name + number_of(1000) for name in names)])


def number_of(value):
    return value.to_bytes(4, "little")


@pytest.fixture
def looked_at(monkeypatch):
    """What was looked at for a header: the owners of the bytes."""
    owners = []

    def take(data):
        owners.append(data.base.obj)
        return native.take_bam_header(data)

    monkeypatch.setattr(bam_records, "native", SimpleNamespace(take_bam_header=take))
    return owners


@pytest.mark.parametrize("contigs", [0, 1, 7, 300])
@pytest.mark.parametrize("records", [0, 5, 3_000])
def test_a_header_of_many_blocks(looked_at, contigs, records):
    """Its blocks are joined to those before them: joined anew each time, the time would grow with the square."""
    header = header_of(b"@CO\t" + b"x" * 900, contigs)
    data = header + bytes(records)
    batches = batches_of(data, 10)
    blocks, size = read_header(batches)
    assert size == len(header)
    assert b"".join(block.data for blocks in [blocks, *batches] for block in blocks) == data
    assert all(owner is looked_at[0] for owner in looked_at)


@pytest.mark.parametrize("end", [lambda: iter(()), damaged], ids=["cut off", "damaged"])
def test_a_header_without_an_end(looked_at, end):
    data = header_of(b"x" * 5_000, 3)[:-1]

    def batches():
        yield from batches_of(data, 10)
        yield from end()

    assert read_header(batches())[1] == 0
    assert all(owner is looked_at[0] for owner in looked_at)


@pytest.mark.parametrize("behind", [5, 30 << 16, 30 << 16 | 5, 1000 << 16, None])
def test_a_thread_unpacks_no_more_than_a_place_of_an_index_has(behind):
    """An index leads to many places of one batch. The one behind it would be unpacked for each of them in vain."""
    addresses, made = [0, 10, 20, 30, 40, 50], []

    def batches():
        for batch in batches_of(bytes(60), 10):
            made.append(batch[0].address)
            yield batch

    ahead = ahead_to(batches(), behind)
    assert [next(ahead)[0].address for _ in range(2)] == addresses[:2]
    ahead.close()
    assert made == addresses[:2]
    made.clear()
    ahead = ahead_to(batches(), behind)
    for at in [0, *(at for at in addresses[1:] if behind is None or at < behind >> 16)]:
        assert next(ahead)[0].address == at
    ahead.close()
    assert all(behind is None or at < (behind >> 16) + 10 for at in made)
    # A record may go on behind the end that an index gives.
    assert [batch[0].address for batch in ahead_to(batches(), behind)] == addresses
