"""How single pairs are packed for cuda/forward/long.cu."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm.backends import tiles
from pairhmm.backends.cuda.layout import UNREAD_COLUMNS, pack_pairs
from pairhmm.models.batch import Group, PairBatch


class Staged:
    """A `Staging` that keeps the bytes."""

    def begin(self, size: int, behind: int) -> tuple[np.ndarray, np.ndarray]:
        self.bytes = np.zeros(size, np.uint8)
        return self.bytes, self.bytes[behind:]

    def send(self, first: int, end: int) -> None:
        pass


@pytest.fixture
def packed(batches, monkeypatch):
    monkeypatch.setattr(tiles, "LEAST_CUT", 10)
    rng = np.random.default_rng(1)
    reads = [batches.read(rng, batches.noise(rng, m)) for m in (700, 10)]
    given = PairBatch.from_groups([Group(reads, [batches.noise(rng, n) for n in (50, 9)])])
    staged = Staged()
    return pack_pairs(given, np.array([1, 0, 0]), np.array([1, 0, 1]), 320, staged), staged.bytes


def test_each_half_of_a_pair_has_strips_of_its_own(packed):
    places, sent = packed
    assert places.items == 1 + 2 * 3 + 3  # a haplotype of 9 letters is not cut
    item_pair = sent[places.item_pair :][: 4 * places.items].view(np.uint32)
    assert item_pair.tolist() == [0] + [1] * 6 + [2] * 3


def test_borders_of_halves(packed):
    """Column 0 of the left half, or of the whole; and those that nobody reads."""
    assert packed[0].columns == (9 + 1) + (50 + 1) + (9 + 1) + UNREAD_COLUMNS * (1 + 2 + 1)
