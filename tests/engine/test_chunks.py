"""Where batches are cut."""

from itertools import chain, repeat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairhmm.engine.device_pool import cut
from pairhmm.models.batch import Group, PairBatch, Read


def read(length):
    return Read(np.zeros(length, dtype=np.uint8), *(np.full(length, 30, dtype=np.uint8) for _ in range(4)))


def batch_of(groups):
    """Groups of (lengths of reads, lengths of haplotypes)."""
    packed = [
        Group([read(m) for m in reads], [np.zeros(n, dtype=np.uint8) for n in haplotypes])
        for reads, haplotypes in groups
    ]
    return PairBatch.from_groups(packed)


@pytest.mark.parametrize(
    ("reads_of", "cells", "expected"),
    [
        ([1, 1, 1, 1, 1], 450, [2, 2, 1]),
        ([1, 1, 1, 1, 1, 1], 1199, [3, 3]),  # equal chunks, not all that fits and a remainder
        ([1, 1, 1, 1], 800, [4]),
        ([3, 1, 3], 600, [3, 1, 3]),  # one that fits is not
        ([3, 3], 599, [2, 2, 2]),  # a group that is too large is cut inside
        ([4], 200, [1, 1, 1, 1]),
        ([2, 1], 1, [1, 1, 1]),  # a read is never cut
        ([0, 1, 0, 0, 1, 0], 200, [1, 1]),
        ([], 1, [0]),
    ],
)
def test_chunks(reads_of, cells, expected):
    """Reads of ten bases, haplotypes of twenty: 200 cells a read."""
    batch = batch_of([([10] * reads, [20]) for reads in reads_of])
    assert [chunk.reads for chunk in cut(batch, repeat(cells))] == expected


def test_chunks_may_grow():
    batch = batch_of([([10], [20])] * 20)
    sizes = chain([200, 200, 400, 800], repeat(1600))
    assert [chunk.reads for chunk in cut(batch, sizes)] == [1, 1, 2, 4, 6, 6]


@pytest.mark.parametrize(("devices", "expected"), [(1, [4, 4, 4, 3, 3]), (2, [3, 3, 3, 3, 3, 3]), (3, [3] * 6)])
def test_devices_get_equally_many_chunks(devices, expected):
    batch = batch_of([([10], [20])] * 18)
    assert [chunk.reads for chunk in cut(batch, repeat(800), devices)] == expected


lengths = st.lists(st.integers(1, 9), max_size=6)


@given(groups=st.lists(st.tuples(lengths, lengths), max_size=6), cells=st.integers(1, 400), devices=st.integers(1, 3))
def test_chunks_make_up_the_batch(groups, cells, devices):
    batch = batch_of(groups)
    chunks = list(cut(batch, repeat(cells), devices))
    assert sum(chunk.reads for chunk in chunks) == batch.reads
    assert sum(chunk.pairs for chunk in chunks) == batch.pairs
    assert np.concatenate([chunk.qualities.bases for chunk in chunks]).tolist() == batch.qualities.bases.tolist()
    assert all(chunk.cells <= cells or chunk.reads == 1 for chunk in chunks)
