"""Dispatches take each strip of each pair once, strips in their order, and keep to the limits where they can."""

from collections import defaultdict

import numpy as np
import pytest

from pairhmm.backends.webgpu import pair_kernels
from pairhmm.backends.webgpu.pair_kernels import strip_dispatches


@pytest.mark.parametrize("seed", range(20))
def test_each_strip_once(monkeypatch, seed):
    monkeypatch.setattr(pair_kernels, "FULL", 4)
    rng = np.random.default_rng(seed)
    count, strip = int(rng.integers(1, 60)), int(rng.choice([16, 32, 48]))
    rows, columns = rng.integers(0, 300, count), np.sort(rng.integers(0, 300, count))
    most_cells, most_words = int(rng.choice([1_000, 50_000, 10**9])), int(rng.choice([100, 5_000, 10**9]))
    taken = defaultdict(list)
    for cut in strip_dispatches(rows, columns, strip, columns + 2, most_cells, most_words):
        for pair in range(cut.begin, cut.end):
            taken[pair] += range(cut.first_row, cut.end_row, strip)
        several = rows[cut.begin : cut.end] > strip
        assert cut.border >= (columns[cut.begin : cut.end] + 2)[several].max(initial=0) * (cut.end - cut.begin)
        assert cut.border <= most_words or cut.end - cut.begin == 1
    for pair in range(count):
        needed = [*range(0, int(rows[pair]), strip)]
        assert taken[pair][: len(needed)] == needed == sorted(set(needed))
    assert sorted(taken) == [*range(count)]


def test_a_long_pair_is_cut_by_its_rows():
    rows = columns = np.array([100_000])
    cuts = [*strip_dispatches(rows, columns, 512, columns // 16, 1 << 39, 1 << 26)]
    assert [cut.end_row - cut.first_row for cut in cuts[:-1]] == [512] * (len(cuts) - 1)
    assert cuts[-1].end_row >= 100_000


def test_many_short_pairs_are_together():
    lengths = np.full(1 << 18, 256)
    assert len([*strip_dispatches(lengths, lengths, 256, lengths, 1 << 39, 1 << 26)]) == 1
