"""Pieces of a run lie between its cuts, and are known as soon as these are."""

from __future__ import annotations

from pairhmm.evidence.pieces import GenomePiece, pieces_at


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
