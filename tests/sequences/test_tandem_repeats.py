"""Tandem repeats of a long sequence, piece by piece."""

import numpy as np
import pytest

from pairhmm.sequences import tandem_repeats
from pairhmm.sequences.tandem_repeats import find_tracts, find_tracts_between

LEAST = (4, 3, 3, 3, 3, 3, 3, 3)


def sequence(rng):
    """Random letters among repeats of all lengths, with Ns."""
    parts = []
    for _ in range(200):
        parts.append(rng.integers(0, 4, rng.integers(1, 40)))
        parts.append(np.tile(rng.integers(0, 4, rng.integers(1, 9)), rng.integers(1, 20)))
        parts.append(np.full(rng.choice([0, 0, 0, 5, 300]), rng.choice([0, 4])))
    return np.concatenate(parts).astype(np.uint8)


@pytest.mark.parametrize(("piece", "behind"), [(1, 40), (50, 40), (333, 100), (1 << 18, 1 << 10)])
def test_pieces_have_the_repeats_of_the_whole(monkeypatch, piece, behind):
    monkeypatch.setattr(tandem_repeats, "_PIECE", piece)
    monkeypatch.setattr(tandem_repeats, "_BEHIND", behind)
    rng = np.random.default_rng(piece)
    codes = sequence(rng)[: 2000 * piece]
    whole = find_tracts(codes, LEAST)
    whole = whole.taken(codes[whole.start] < 4)
    for begin, end in [(0, len(codes)), *(np.sort(rng.integers(0, len(codes), (5, 2)), axis=1).tolist())]:
        found = find_tracts_between(lambda a, b: codes[a:b], len(codes), begin, end, LEAST)
        expected = whole.taken((whole.start >= begin) & (whole.start < end))
        assert [column.tolist() for column in found] == [column.tolist() for column in expected]
