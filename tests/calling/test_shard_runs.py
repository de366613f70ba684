"""Shards of a run lie between its cuts; target windows lie around listed candidates."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from pairhmm.calling.region_sources import TargetWindows
from pairhmm.calling.shard_runs import NumberedShards, Shard, listed_shards
from pairhmm.variants.regions import MAX_SHIFT
from pairhmm.variants.variant import Variant

TARGETS = [(0, 10), (0, 20), (0, 30), (1, 5)]


def pieces(cuts):
    """All pieces of a run over two contigs, whose targets are cut at these places."""
    found = NumberedShards(TARGETS, dict(zip(TARGETS, cuts, strict=True)).__getitem__, 2)
    return [found[number] for number in range(len(TARGETS) + 1)]


def test_a_piece_lies_between_two_cuts():
    assert pieces([(0, 12), (0, 20), (0, 38), (1, 9)]) == [
        Shard((0, 0), (0, 12)),
        Shard((0, 12), (0, 20), touches=True),
        Shard((0, 20), (0, 38), touches=True),
        Shard((0, 38), (1, 9), touches=True),
        Shard((1, 9), (2, 0), touches=True),
    ]


@pytest.mark.parametrize("second", [(0, 20), (0, 25), (0, 33), (0, 38), (1, 9)])
@pytest.mark.parametrize("first", [(0, 10), (0, 15), (0, 20), (0, 25), (0, 33), (1, 9)])
def test_pieces_do_not_overlap_and_leave_nothing_out(first, second):
    """Even where a cut lies behind the next target, and where the cuts of two targets are in the wrong order."""
    found = [one for one in pieces([first, second, (0, 31), (2, 0)]) if one is not None]
    assert found[0].begin == (0, 0) and found[-1].end == (2, 0)
    assert all(before.end == behind.begin for before, behind in pairwise(found))
    assert all(one.begin < one.end and one.touches == (one.begin > (0, 0)) for one in found)


def test_a_run_without_cuts_is_one_piece():
    assert NumberedShards([], {}.__getitem__, 3)[0] == Shard((0, 0), (3, 0))


@pytest.mark.parametrize(
    ("spacing", "count", "sizes"),
    [
        (1000, 200, [32] * 6 + [8]),  # sparse candidates: a piece reads little beside its own reads
        (40, 400, [100] * 4),  # dense ones: a piece for each worker
        (40, 4000, [250] * 16),  # as many as lie in the bases that a piece reads beside its own
        (40, 60, [32, 28]),  # few
    ],
)
def test_listed_candidates_that_are_close_make_large_pieces(spacing, count, sizes):
    listed = [Variant("q", spacing * (at + 50), "A", ("C",)) for at in range(count)]
    pieces = list(listed_shards(iter(listed), {"q": 10**6}, lambda *_: "", margin=10, threads=4, reach=5))
    assert [len(piece.listed) for piece in pieces] == sizes
    assert [one for piece in pieces for one in piece.listed] == listed


MARGIN = 55
RANK = {"a": 0, "b": 1, "c": 2}


def random_candidates(rng, count: int) -> list[tuple[Variant, tuple[int, int]]]:
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
    candidates = random_candidates(np.random.default_rng(count), count)
    places = TargetWindows(iter(candidates), MARGIN, lambda one: (RANK[one.chrom], one.pos))
    for chrom, rank in RANK.items():
        for end in (3_000, 3_001, 12_000, 30_000):
            given = places.up_to(rank, end)
            assert all(one[1] < other[0] for one, other in pairwise(given))
            own = [(first - MARGIN, last + MARGIN) for variant, (first, last) in candidates if variant.chrom == chrom]
            assert positions(own, end) == positions(given, end)


def test_places_that_were_passed_are_forgotten():
    candidates = random_candidates(np.random.default_rng(3), 60)
    places = TargetWindows(iter(candidates), MARGIN, lambda one: (RANK[one.chrom], one.pos))
    whole = list(places.up_to(0, 20_000))
    places.forget(9_000)
    assert places.up_to(0, 20_000) == [one for one in whole if one[1] > 9_000]
