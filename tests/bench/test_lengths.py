"""`pairhmm.bench.lengths`: what it makes and what it reports; not how fast this machine is."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm.bench import lengths as bench


@pytest.mark.parametrize(("length", "pairs"), [(1, 1), (50, 3), (100, 1000), (3000, 2)])
def test_groups_have_the_length_and_about_the_pairs(length, pairs):
    groups = bench.make_groups(length, pairs)
    made = sum(len(group.reads) * len(group.haplotypes) for group in groups)
    assert 0.5 * pairs <= made <= 1.5 * pairs
    for group in groups:
        assert all(len(haplotype) == length for haplotype in group.haplotypes)
        assert all(len(read.bases) == len(read.gap_quality) == length for read in group.reads)
    again, other = (bench.make_groups(length, pairs, seed)[0].reads[0] for seed in (1, 2))
    assert np.array_equal(groups[0].reads[0].bases, again.bases)
    assert length == 1 or not np.array_equal(again.bases, other.bases)


def test_speed_of_each_length_in_order(monkeypatch):
    speeds = list(bench.measure_speed("reference", [40, 20], seconds=0.01, repetitions=1))
    assert [speed.length for speed in speeds] == [40, 20]
    for speed in speeds:
        assert speed.cells == speed.pairs * speed.length**2
        assert speed.gcups == pytest.approx(speed.cells / speed.seconds * 1e-9)
    monkeypatch.setattr(bench, "SHORT", 0)
    said: list[str] = []
    list(bench.measure_speed("reference", [20, 400], seconds=1e-5, repetitions=1, announce=said.append))
    assert len(said) == 1
    assert said[0].startswith("reference at 400 bases: 0.00016 G cells, about ")
