"""One aligned read."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm.genomics.blocks import ReadBlock
from pairhmm.genomics.reads import Alignment


def read(flag=0, start=0):
    return Alignment(
        "r", 0, flag, start, start + 3, 60, np.array([0, 1, 2], np.uint8), np.full(3, 30, np.uint8), [(0, 3)]
    )


@pytest.mark.parametrize(("flag", "mate"), [(0, 0), (0x40, 0), (0x1 | 0x40, 1), (0x1 | 0x80, 2), (0x1, 0)])
def test_mate(flag, mate):
    assert read(flag).mate == mate


def test_reads_pack_into_a_block():
    block = ReadBlock.from_alignments("c", [read(start=1), read(start=5)])
    assert block.start.tolist() == [1, 5]
    assert block.bases.tolist() == [0, 1, 2] * 2
    assert block.cigar.tolist() == [3 << 4] * 2
