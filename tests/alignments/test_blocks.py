"""Aligned reads as flat arrays."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from pairhmm.alignments.blocks import ReadBlock


def read(start):
    bases, quals = np.array([0, 1, 2], np.uint8), np.full(3, 30, np.uint8)
    return SimpleNamespace(
        name="r", sample=0, flag=0, mapq=60, start=start, end=start + 3, bases=bases, quals=quals, cigar=[(0, 3)]
    )


def test_reads_pack_into_a_block():
    block = ReadBlock.from_alignments("c", [read(start=1), read(start=5)])
    assert block.start.tolist() == [1, 5]
    assert block.bases.tolist() == [0, 1, 2] * 2
    assert block.cigar.tolist() == [3 << 4] * 2
