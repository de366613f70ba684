"""Packing: what a batch holds, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm.batch import Group, PairBatch, Read, Start, offsets


def read(length, quality=30):
    return Read(np.zeros(length, dtype=np.uint8), *(np.full(length, quality, dtype=np.uint8) for _ in range(4)))


def haplotype(length):
    return np.zeros(length, dtype=np.uint8)


@pytest.fixture
def batch():
    return PairBatch.from_groups(
        [
            Group([read(3), read(4)], [haplotype(5)]),
            Group([], [haplotype(2)]),
            Group([read(1)], [haplotype(7), haplotype(8)]),
        ]
    )


def test_counts(batch):
    assert batch.groups == 3
    assert batch.group_pair.tolist() == [0, 2, 2, 4]
    assert batch.group_cells.tolist() == [7 * 5, 0, 15]


def test_pair_indices(batch):
    reads, haplotypes = batch.pair_indices(np.arange(batch.pairs))
    assert reads.tolist() == [0, 1, 2, 2]
    assert haplotypes.tolist() == [0, 0, 2, 3]


def test_take_groups(batch):
    part = batch.take_groups(1, 3)
    assert part.pairs == 2
    assert np.diff(part.read_offset).tolist() == [1]
    assert np.diff(part.haplotype_offset).tolist() == [2, 7, 8]


@pytest.mark.parametrize(
    ("group", "message"),
    [
        (Group([read(0)], [haplotype(2)]), "read_offset: item 0 has length 0"),
        (Group([read(2)], [haplotype(0)]), "haplotype_offset: item 0 has length 0"),
        (Group([read(2, quality=200)], [haplotype(2)]), "base_quality has a value of 200"),
        (Group([read(2)], [np.full(2, 7, dtype=np.uint8)]), "haplotypes has a value of 7"),
    ],
)
def test_refused(group, message):
    with pytest.raises(ValueError, match=message):
        PairBatch.from_groups([group])


def test_rows_must_be_finite():
    rows = np.full((2, 12), np.nan)
    with pytest.raises(ValueError, match="finite"):
        PairBatch(offsets([1]), offsets([1]), offsets([2]), offsets([3]), haplotype(3), Start(1.0, 0.0), rows=rows)
