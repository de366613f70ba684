"""Distances of pairs are those of the published formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pairhmm.map.sketch.pairs import containment, distances_of, identity, jaccard, least_equal, mash_distance
from pairhmm.map.sketch.sketches import Scheme

WIDE, NARROW = Scheme(slots=1024, bits=8), Scheme(slots=8192, bits=1)


def test_jaccard_is_corrected_for_chance():
    assert jaccard(np.array([4096, 8192, 6144, 100]), NARROW).tolist() == [0, 1, 0.5, 0]
    assert jaccard(np.array([4]), WIDE).tolist() == [0]  # 1,024 / 256
    assert jaccard(np.array([514]), WIDE).tolist() == [0.5]


def test_mash_distance_as_mash_prints_it():
    """Mash's own tutorial: 456 of 1,000 hashes shared, k 21: 0.0222766."""
    assert mash_distance(np.array([0.456]), 21)[0] == pytest.approx(0.0222766, abs=5e-8)
    ends = mash_distance(np.array([1.0, 0.0]), 21)
    assert ends.tolist() == [0, 1]
    assert not np.signbit(ends).any()


def test_containment_and_identity():
    """Of 100 and 300 k-mers, 80 are shared: j = 80 / 320."""
    part = containment(np.array([0.25]), np.array([100.0]), np.array([300.0]))
    assert part.tolist() == [pytest.approx(0.8)]
    assert identity(part, 21)[0] == pytest.approx(0.8 ** (1 / 21))


def test_containment_is_at_most_one_and_symmetric():
    one, other = np.array([100.0]), np.array([1000.0])
    assert containment(np.array([0.5]), one, other).tolist() == [1]
    assert containment(np.array([0.05]), one, other) == containment(np.array([0.05]), other, one)
    assert containment(np.array([0.0]), np.array([0.0]), other).tolist() == [0]


def test_distances_of_pairs():
    found = distances_of(np.array([1024, 514, 4]), np.full(3, 1e6), np.full(3, 2e6), WIDE)
    assert found.jaccard.tolist() == [1, 0.5, 0]
    assert found.mash_distance.tolist() == [0, pytest.approx(-math.log(2 / 3) / 21), 1]
    assert found.containment.tolist() == [1, 1, 0]
    assert found.ani.tolist() == [1, 1, 0]


@pytest.mark.parametrize("scheme", [WIDE, NARROW], ids=str)
@pytest.mark.parametrize("most", [0.0, 0.05, 0.3, 1.0])
def test_least_equal_is_the_limit(scheme, most):
    every = mash_distance(jaccard(np.arange(scheme.slots + 1), scheme), scheme.k)
    least = least_equal(most, scheme)
    assert (every[least:] <= most).all()
    assert (every[:least] > most).all()
