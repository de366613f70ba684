"""Shards of a run lie between its cuts; target windows lie around listed candidates."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pairhmm.calling.shard_runs import NumberedShards, Shard, listed_shards
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
