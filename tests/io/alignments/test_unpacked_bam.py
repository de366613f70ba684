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
