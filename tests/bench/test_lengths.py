"""`pairhmm.bench.lengths`: what it makes and what it reports; not how fast this machine is."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm.bench import lengths as bench


@pytest.mark.parametrize(("length", "pairs"), [(1, 1), (50, 1), (50, 3), (100, 1000), (3000, 2)])
def test_groups_have_the_length_and_about_the_pairs(length: int, pairs: int) -> None:
    groups = bench.make_groups(length, pairs)
    made = sum(len(group.reads) * len(group.haplotypes) for group in groups)
    assert 0.5 * pairs <= made <= 1.5 * pairs
    for group in groups:
        assert all(len(haplotype) == length for haplotype in group.haplotypes)
        for read in group.reads:
            arrays = read.bases, read.base_quality, read.insertion_quality, read.deletion_quality, read.gap_quality
            assert all(array.shape == (length,) and array.dtype == np.uint8 for array in arrays)
            assert read.bases.max() <= 3


def test_reads_resemble_their_haplotype() -> None:
    (group,) = bench.make_groups(200, 4)
    read, haplotype = group.reads[0].bases, group.haplotypes[0]
    head = slice(0, 20)  # before the first inserted or deleted base, at this seed
    assert np.count_nonzero(read[head] != haplotype[head]) <= 2


def test_groups_depend_on_the_seed_alone() -> None:
    first, again, other = (bench.make_groups(100, 8, seed)[0].reads[0].bases for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_speed_of_each_length_in_order() -> None:
    speeds = list(bench.measure_speed("reference", [40, 20], seconds=0.01, repetitions=1))
    assert [speed.length for speed in speeds] == [40, 20]
    for speed in speeds:
        assert speed.cells == speed.pairs * speed.length**2
        assert speed.gcups == pytest.approx(speed.cells / speed.seconds * 1e-9)


def test_long_measurements_are_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "SHORT", 0)
    said: list[str] = []
    list(bench.measure_speed("reference", [20, 400], seconds=1e-5, repetitions=1, announce=said.append))
    assert len(said) == 1
    assert said[0].startswith("reference at 400 bases: 0.00016 G cells, about ")


def test_the_oracle_agrees_with_itself_and_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "ORACLE_CELLS", 20_000)
    said: list[str] = []
    (accuracy,) = bench.measure_accuracy(["reference"], [50], announce=said.append)
    assert accuracy.pairs == 8
    assert accuracy.worst == 0.0
    assert accuracy.worst_relative == 0.0
    assert accuracy.lowest < 0.0
    assert len(said) == 1
    assert said[0].startswith("reference at 50 bases")
