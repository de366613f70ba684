"""The places of listed candidates beside plain sets of positions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from pairhmm.calling.target_windows import ListedPlaces
from pairhmm.variants.variant import MAX_SHIFT, Variant

MARGIN = 55
RANK = {"a": 0, "b": 1, "c": 2}


def listed(rng, count: int) -> list[tuple[Variant, tuple[int, int]]]:
    found = []
    for chrom in ("a", "c"):
        for pos in np.sort(rng.integers(0, 20_000, count)).tolist():
            start, end = pos - int(rng.integers(0, MAX_SHIFT)), pos + int(rng.integers(1, MAX_SHIFT))
            found.append((Variant(chrom, pos, "A", ("C",), "", 0), (start, end)))
    return found


def positions(intervals, before: int) -> set[int]:
    return {at for start, end in intervals for at in range(start, min(end, before))}


@pytest.mark.parametrize("count", [0, 5, 60])
def test_places_are_the_extents_with_their_margins(count):
    candidates = listed(np.random.default_rng(count), count)
    places = ListedPlaces(iter(candidates), MARGIN, lambda one: (RANK[one.chrom], one.pos))
    for chrom, rank in RANK.items():
        for end in (3_000, 3_001, 12_000, 30_000):
            given = places.up_to(rank, end)
            assert all(one[1] < other[0] for one, other in pairwise(given))
            own = [(first - MARGIN, last + MARGIN) for variant, (first, last) in candidates if variant.chrom == chrom]
            assert positions(own, end) == positions(given, end)


def test_places_that_were_passed_are_forgotten():
    candidates = listed(np.random.default_rng(3), 60)
    places = ListedPlaces(iter(candidates), MARGIN, lambda one: (RANK[one.chrom], one.pos))
    whole = list(places.up_to(0, 20_000))
    places.forget(9_000)
    assert places.up_to(0, 20_000) == [one for one in whole if one[1] > 9_000]
