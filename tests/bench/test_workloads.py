"""`pairhmm.bench.workloads`: the shape and the statistics of what is made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pairhmm import engine
from pairhmm.bench.workloads import WORKLOADS, Workload, groups_of, join, make_workload
from pairhmm.models.batch import Group, PairBatch, Qualities
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


def test_spread_of_read_lengths() -> None:
    lengths = np.diff(make_workload(replace(SMALL, read_length=250, spread=100)).read_offset)
    assert lengths.min() < 160 and lengths.max() > 240
    assert ((lengths >= 150) & (lengths <= 250)).all()


def test_reads_are_no_longer_than_their_haplotype_and_no_shorter_than_ten() -> None:
    lengths = np.diff(make_workload(replace(SMALL, read_length=400, spread=399)).read_offset)
    assert lengths.min() >= 10 and lengths.max() <= 350


def test_equal_lengths_of_any_size() -> None:
    batch = make_workload(Workload(3, 4, 5, 1, 1, deletions=False))
    assert set(np.diff(batch.haplotype_offset)) == set(np.diff(batch.read_offset)) == {1}


def test_the_seed_alone_decides() -> None:
    assert is_same(make_workload(SMALL, [1, 2]), make_workload(SMALL, [1, 2]))
    assert not is_same(make_workload(SMALL, [1, 2]), make_workload(SMALL, [1, 3]))


def test_qualities_are_a_normal_distribution_cut_off() -> None:
    qualities = make_workload(replace(SMALL, regions=100)).qualities
    assert qualities is not None
    expected = np.clip(np.random.default_rng(0).normal(34, 6, 1_000_000), 6, 41).astype(int)
    share = np.bincount(qualities.base_quality, minlength=50) / len(qualities.bases)
    assert share == pytest.approx(np.bincount(expected, minlength=50) / len(expected), abs=0.003)
    assert set(qualities.insertion_quality) == set(qualities.deletion_quality) == {40}
    assert set(qualities.gap_quality) == {10}


def test_reads_come_from_a_haplotype_with_the_errors_that_their_qualities_say() -> None:
    batch = make_workload(replace(SMALL, haplotypes=1, read_length=350))
    assert batch.qualities is not None
    differing = batch.qualities.bases.reshape(20, 30, 350) != batch.haplotypes.reshape(20, 1, 350)
    assert differing.mean() == pytest.approx(ERROR[batch.qualities.base_quality].mean(), rel=0.1)


def test_gap_qualities_that_vary_along_the_read() -> None:
    qualities = make_workload(replace(SMALL, varying_gaps=True)).qualities
    assert qualities is not None
    assert set(qualities.gap_quality) == set(range(8, 15))
    assert set(qualities.gap_quality[:150]) == set(range(8, 15))


def test_profiles_of_the_same_reads() -> None:
    batch, other = make_workload(SMALL), make_workload(replace(SMALL, preset="normalised"))
    assert batch.qualities is not None and other.profiles is not None
    expected = one_hot(batch.qualities.bases, ERROR[batch.qualities.base_quality])
    assert np.array_equal(other.profiles.at_bases, expected)
    assert np.array_equal(other.haplotypes, batch.haplotypes)
    assert other.start == preset("normalised").start


def test_profiles_with_repeats() -> None:
    """The rows of the same reads, whose gaps are likelier in repeats."""
    batch, other = (make_workload(replace(SMALL, preset="normalised", repeats=repeats)) for repeats in (False, True))
    assert batch.profiles is not None and other.profiles is not None and other.profiles.kinds is not None
    assert np.array_equal(other.profiles.at_bases, batch.profiles.at_bases)
    rates = other.profiles.transitions[:, [3, 5]]
    assert rates.min() == pytest.approx(1e-4) and (rates.max(axis=0) > 2 * rates.min(axis=0)).all()


def test_noise_needs_the_rescue(require) -> None:
    from pairhmm import backends

    require("cpu", backends.status("cpu").available, "float32 is the compiled part's")
    batch = make_workload(replace(SMALL, noise=0.2))
    scores = engine.forward(batch, "cpu")
    rescued = (scores.precision != 0).reshape(600, 8)
    assert set(rescued.sum(axis=1)) == {0, 8}
    assert rescued.mean() == pytest.approx(0.2, abs=0.05)


def test_workloads_have_their_cells() -> None:
    cells = {
        name: w.regions * w.reads * w.haplotypes * w.read_length * w.haplotype_length for name, w in WORKLOADS.items()
    }
    assert cells == {**dict.fromkeys(WORKLOADS, 84e9), "s250": 160e9}


def test_groups_and_back() -> None:
    batch = make_workload(replace(SMALL, spread=50))
    assert is_same(PairBatch.from_groups(list(groups_of(batch))), batch)


def test_copies_joined() -> None:
    batch, other = make_workload(SMALL), make_workload(replace(SMALL, reads=2, read_length=20))
    groups: list[Group] = [*groups_of(batch), *groups_of(batch), *groups_of(other)]
    assert is_same(join([batch, batch, other]), PairBatch.from_groups(groups))
