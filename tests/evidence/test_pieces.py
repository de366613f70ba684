"""Pieces of a run lie between its cuts, and are known as soon as these are."""

from __future__ import annotations

import pytest

from pairhmm.evidence.pieces import GenomePiece, listed_pieces, pieces_at
from pairhmm.genomics.variants import Variant


def test_a_piece_is_known_with_its_last_cut():
    found = []

    def cuts():
        for place in ((0, 5), (0, 5), (0, 9), (1, 4)):
            found.append(place)
            yield place

    pieces = pieces_at(cuts(), 2)
    assert next(pieces) == GenomePiece((0, 0), (0, 5))
    assert found == [(0, 5)]
    assert list(pieces) == [
        GenomePiece((0, 5), (0, 9), touches=True),
        GenomePiece((0, 9), (1, 4), touches=True),
        GenomePiece((1, 4), (2, 0), touches=True),
    ]


def test_a_run_without_cuts_is_one_piece():
    assert list(pieces_at([], 3)) == [GenomePiece((0, 0), (3, 0))]


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
    pieces = list(listed_pieces(iter(listed), {"q": 10**6}, lambda *_: "", margin=10, threads=4, reach=5))
    assert [len(piece.listed) for piece in pieces] == sizes
    assert [one for piece in pieces for one in piece.listed] == listed
