"""Packing: what a batch holds, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest

from pairhmm.models import profile
from pairhmm.models.batch import Group, PairBatch, Read, Start
from pairhmm.models.profile import rows_of
from pairhmm.sequences.arrays import offsets


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
    assert batch.group_cells.tolist() == [0, 35, 35, 50]
    assert (batch.reads, batch.cells) == (3, 50)


def test_pair_indices(batch):
    reads, haplotypes = batch.pair_indices(np.arange(batch.pairs))
    assert reads.tolist() == [0, 1, 2, 2]
    assert haplotypes.tolist() == [0, 0, 2, 3]


@pytest.mark.parametrize(
    ("first", "end", "reads", "haplotypes", "groups"),
    [
        (0, 3, [3, 4, 1], [5, 2, 7, 8], [0, 2, 2, 3]),
        (0, 2, [3, 4], [5], [0, 2]),
        (1, 2, [4], [5], [0, 1]),
        (1, 3, [4, 1], [5, 2, 7, 8], [0, 1, 1, 2]),
        (2, 3, [1], [7, 8], [0, 1]),
        (2, 2, [], [], [0]),
        (3, 3, [], [], [0]),
    ],
)
def test_take_reads(batch, first, end, reads, haplotypes, groups):
    """Reads keep their group's haplotypes, and their pairs the batch's order; nothing is copied."""
    taken = batch.take_reads(first, end)
    assert np.diff(taken.read_offset).tolist() == reads
    assert np.diff(taken.haplotype_offset).tolist() == haplotypes
    assert taken.group_read.tolist() == groups
    reads_of, _ = batch.pair_indices(np.arange(batch.pairs))
    assert taken.pairs == int(((first <= reads_of) & (reads_of < end)).sum())
    assert taken.cells == sum([15, 20, 15][first:end])
    assert not taken.bases or np.shares_memory(taken.qualities.bases, batch.qualities.bases)


@pytest.mark.parametrize(
    ("group", "message"),
    [
        (Group([read(0)], [haplotype(2)]), r"reads\[0\] is empty"),
        (Group([read(2)], [haplotype(0)]), r"haplotypes\[0\] is empty"),
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


def kinds_batch(kinds, rows=2):
    """Two reads of 3 and 2 positions, whose positions are kinds of `rows` distinct rows."""
    one = np.array([0, 1], dtype=np.int64)
    distinct = np.eye(4)[:rows]
    profiles = profile.preset("normalised").profiles(distinct, np.array(kinds, dtype=np.uint16))
    return PairBatch(
        one * 2, one, offsets([3, 2]), offsets([4]), np.zeros(4, dtype=np.uint8), Start(1.0, 0.0), profiles=profiles
    )


def test_kinds_stand_for_rows():
    """Positions that name a kind have the rows of that kind, in a batch and in its parts."""
    batch = kinds_batch([0, 1, 1, 0, 1])
    model = profile.preset("normalised")
    rows = model.rows(np.eye(4)[[0, 1, 1, 0, 1]])
    assert batch.bases == 5
    assert np.array_equal(rows_of(batch), rows)
    assert np.array_equal(rows_of(batch.take_reads(1, 2)), rows[3:])


def test_transitions_that_rows_share():
    """im, dm, ii and dd, whether rows have mm, mi and md of their own or not. A batch may have no rows."""
    model = profile.preset("normalised")
    plain = model.profiles(np.eye(4))
    own = np.tile(plain.transitions, (4, 1))
    own[:, [0, 3, 5]] *= np.arange(1, 5)[:, None] / 4
    shared = [1, 2, 4, 6]
    assert plain.shared_transitions.tolist() == plain.transitions.tolist()
    found = replace(plain, transitions=own).shared_transitions
    assert found[shared].tolist() == plain.transitions[shared].tolist()
    assert replace(plain, probabilities=np.zeros((0, 4)), transitions=np.zeros((0, 7))).shared_transitions.shape == (7,)


def test_unknown_kind():
    with pytest.raises(ValueError, match="kinds has a value of 2, but there are 2 rows"):
        kinds_batch([0, 1, 2, 0, 1])


@pytest.mark.parametrize("column", [1, 2, 4, 6])
def test_transitions_that_rows_must_share(column):
    """im, dm, ii and dd of a row of its own would be passed over by the kernels."""
    given = kinds_batch([0, 1, 1, 0, 1])
    own = np.tile(given.profiles.transitions, (2, 1))
    own[1, column] /= 2
    with pytest.raises(ValueError, match="im, dm, ii and dd must be the same"):
        replace(given, profiles=replace(given.profiles, transitions=own))
