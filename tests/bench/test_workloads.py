"""`pairhmm.bench.workloads`: the shape and the statistics of what is made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pairhmm.bench.workloads import Workload, groups_of, make_workload
from pairhmm.models.batch import PairBatch, Qualities
from pairhmm.models.gatk import ERROR
from pairhmm.models.profile import one_hot, preset

SMALL = Workload(20, 30, 8, 150, 350)


def columns(batch: PairBatch) -> list[np.ndarray]:
    offsets = [batch.group_read, batch.group_haplotype, batch.read_offset, batch.haplotype_offset, batch.haplotypes]
    return offsets + [getattr(batch.qualities, name) for name in Qualities.__dataclass_fields__]


def is_same(one: PairBatch, other: PairBatch) -> bool:
    return all(np.array_equal(*pair) for pair in zip(columns(one), columns(other), strict=True))


def test_lengths_and_numbers() -> None:
    batch = make_workload(SMALL)
    assert (batch.groups, batch.reads, batch.pairs) == (20, 600, 4800)
    assert set(np.diff(batch.read_offset)) == {150}
    lengths = np.diff(batch.haplotype_offset).reshape(20, 8)
    assert set(lengths[:, [0, 1, 3, 4, 6, 7]].flat) == {350}
    assert set(lengths[:, [2, 5]].flat) == {345, 346, 347, 348, 349}
    assert batch.haplotypes.max() == 3


def test_the_seed_alone_decides() -> None:
    assert is_same(make_workload(SMALL, [1, 2]), make_workload(SMALL, [1, 2]))
    assert not is_same(make_workload(SMALL, [1, 2]), make_workload(SMALL, [1, 3]))


def test_reads_come_from_a_haplotype_with_the_errors_that_their_qualities_say() -> None:
    batch = make_workload(replace(SMALL, haplotypes=1, read_length=350))
    assert batch.qualities is not None
    differing = batch.qualities.bases.reshape(20, 30, 350) != batch.haplotypes.reshape(20, 1, 350)
    assert differing.mean() == pytest.approx(ERROR[batch.qualities.base_quality].mean(), rel=0.1)


def test_profiles_of_the_same_reads() -> None:
    batch, other = make_workload(SMALL), make_workload(replace(SMALL, preset="normalised"))
    assert batch.qualities is not None and other.profiles is not None
    expected = one_hot(batch.qualities.bases, ERROR[batch.qualities.base_quality])
    assert np.array_equal(other.profiles.at_bases, expected)
    assert np.array_equal(other.haplotypes, batch.haplotypes)
    assert other.start == preset("normalised").start


def test_groups_and_back() -> None:
    batch = make_workload(replace(SMALL, spread=50))
    assert is_same(PairBatch.from_groups(list(groups_of(batch))), batch)
