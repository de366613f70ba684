"""Batches that become one."""

from dataclasses import replace

import numpy as np
import pytest

from pairhmm.models.batch import Group, PairBatch, Read, Start
from pairhmm.models.merging import can_merge, merge_batches
from pairhmm.models.profile import preset


def groups_of(seed):
    """Groups of different sizes, one of them without reads."""
    rng = np.random.default_rng(seed)
    letters = lambda size: rng.integers(0, 4, size).astype(np.uint8)  # noqa: E731
    read = lambda size: Read(letters(size), *(rng.integers(5, 40, size).astype(np.uint8) for _ in range(4)))  # noqa: E731
    return [
        Group([read(10 + number) for number in range(reads)], [letters(20 + number) for number in range(1 + reads % 2)])
        for reads in (2, 0, 3 + seed)
    ]


def of_profiles(model, seed, probabilities=None):
    rng = np.random.default_rng(seed)
    bases, quality = rng.integers(0, 4, 30).astype(np.uint8), rng.integers(5, 40, 30).astype(np.uint8)
    profiles = model.base_calls(bases, quality)
    if probabilities is not None:
        profiles = model.profiles(probabilities)
    return PairBatch(
        group_read=np.array([0, 2]),
        group_haplotype=np.array([0, 1]),
        read_offset=np.array([0, 12, 30]),
        haplotype_offset=np.array([0, 40]),
        haplotypes=rng.integers(0, 4, 40).astype(np.uint8),
        start=model.start,
        profiles=profiles,
    )


def as_lists(batch):
    reads = batch.qualities if batch.qualities is not None else batch.profiles
    arrays = [batch.group_read, batch.group_haplotype, batch.read_offset, batch.haplotype_offset, batch.haplotypes]
    fields = [getattr(reads, name) for name in reads.__dataclass_fields__]
    return [values.tolist() for values in [*arrays, *fields]], batch.start


def test_groups_stand_in_order():
    made = [PairBatch.from_groups(groups_of(seed)) for seed in range(3)]
    expected = PairBatch.from_groups([group for seed in range(3) for group in groups_of(seed)])
    assert all(can_merge(made[0], other) for other in made)
    assert as_lists(merge_batches(made)) == as_lists(expected)
    assert merge_batches(made[:1]) is made[0]


def test_profiles_of_one_table():
    model = preset("normalised")
    one, other = (of_profiles(model, seed) for seed in (1, 2))
    assert can_merge(one, other)
    joined = merge_batches([one, other])
    assert joined.profiles.kinds.tolist() == [*one.profiles.kinds, *other.profiles.kinds]
    assert np.array_equal(joined.profiles.probabilities, one.profiles.probabilities)
    assert joined.read_offset.tolist() == [0, 12, 30, 42, 60]


@pytest.mark.parametrize("swapped", [False, True])
def test_what_stays_apart(swapped):
    model = preset("normalised")
    qualities = PairBatch.from_groups(groups_of(1))
    calls, rows = of_profiles(model, 1), of_profiles(model, 1, np.full((30, 4), 0.25))
    others = [
        (qualities, PairBatch.from_groups(groups_of(1), Start(0.5, 1.0))),
        (qualities, calls),
        (calls, rows),
        (rows, rows),
        (calls, replace(calls, profiles=replace(calls.profiles, insertion=np.array([0.1, 0.2, 0.3, 0.4])))),
    ]
    for one, other in others:
        assert not can_merge(*((other, one) if swapped else (one, other)))
