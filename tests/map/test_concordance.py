"""Certain genotypes, and counts of agreement against a loop over sites."""

import numpy as np
import pytest

from pairhmm.map import concordance
from pairhmm.map.concordance import agreement, certain_genotypes
from tests.map import cohorts


def looped(first, second):
    """Counts of two samples, site by site."""
    sites = ibs0 = ibs2 = shared = one = other = 0
    for a, b in zip(first, second, strict=True):
        if a < 0 or b < 0:
            continue
        sites += 1
        ibs0 += abs(a - b) == 2
        ibs2 += a == b
        shared += a == b == 1
        one += a == 1
        other += b == 1
    return sites, ibs0, ibs2, shared, min(one, other)


@pytest.mark.parametrize("rows", [256, 3])
def test_counts_are_those_of_a_loop(monkeypatch, rows):
    monkeypatch.setattr(concordance, "_ROWS", rows)
    monkeypatch.setattr(concordance, "_BLOCK", 64)
    genotypes = np.random.default_rng(1).integers(-1, 3, (8, 300)).astype(np.int8)
    found = agreement(genotypes)
    pairs = [(i, j) for i in range(8) for j in range(i + 1, 8)]
    columns = (found.sites, found.ibs0, found.ibs2, found.shared_hets, found.fewer_hets)
    assert list(zip(*(one.tolist() for one in columns), strict=True)) == [
        looped(genotypes[i].tolist(), genotypes[j].tolist()) for i, j in pairs
    ]


def test_somaliers_formulas():
    found = agreement(np.array([[1, 1, 0, 2, 1], [1, 0, 2, 2, 1]], dtype=np.int8))
    assert found.concordance.tolist() == [3 / 5]
    assert found.relatedness.tolist() == [(2 - 2 * 1) / 2]


def test_without_common_sites_nothing_is_told():
    found = agreement(np.array([[1, -1], [-1, 1]], dtype=np.int8))
    assert np.isnan(found.concordance).all() and np.isnan(found.relatedness).all()


def test_genotypes_need_depth_and_balance():
    counts = np.array([[[7, 0], [6, 0], [0, 30], [30, 1], [30, 3], [20, 6], [24, 6], [0, 0], [0, 0]]], dtype=np.uint16)
    called = np.full((1, 9), -1, dtype=np.int8)
    called[0, 7], called[0, 0] = 1, 2
    assert certain_genotypes(cohorts.evidence(counts), called)[0].tolist() == [0, -1, 2, 0, -1, 1, 1, 1, -1]
