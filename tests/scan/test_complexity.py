"""Tiles of low complexity: the rule, by examples and by the oracle, and how many a signature has."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm.scan.batch import Tiling
from pairhmm.scan.complexity import masked_places, masked_tiles
from pairhmm.scan.reference_tiles import is_low_complexity
from pairhmm.sequences.letters import encode_sets, reverse_complement
from pairhmm.sequences.signatures import Signatures
from tests.scan.conftest import BASES, draw


@pytest.mark.parametrize(
    ("tile", "is_low"),
    [
        ("A" * 31, True),
        ("g" * 31, True),
        ("AC" * 16, True),
        ("CAG" * 11, True),
        ("ACGT" * 8, True),
        ("ACGTT" * 7, True),
        ("ACGTTGC" * 5, False),
        ("A" * 26 + "CGTGC", True),
        ("A" * 10 + "CTGACGTCATTGCAGCATTCG", False),
        ("A" * 16 + "CTGACGTCATTGCAG", True),
        ("N" * 31, False),
        ("A" * 11 + "N" * 20, False),
        ("AAAAAAAA", True),
        ("ACGTTGCA", False),
    ],
)
def test_the_rule(tile, is_low):
    letters = encode_sets(tile)
    assert is_low_complexity(letters) == is_low
    assert is_low_complexity(reverse_complement(letters)) == is_low
    places = masked_places(letters, np.array([0, len(letters)]), Tiling(len(letters)))
    assert places.tolist() == ([[0, 1]] if is_low else [])


@pytest.mark.parametrize("seed", range(20))
def test_every_place_as_the_oracle_has_it(seed):
    rng = np.random.default_rng(seed)
    length, step = int(rng.choice([8, 12, 31, 70])), int(rng.choice([1, 2, 7, 40]))
    sequences = []
    for _ in range(5):
        parts = [draw(rng, int(rng.integers(0, 60)), 0.05, 0.05, BASES) for _ in range(3)]
        unit = draw(rng, int(rng.integers(1, 7)), 0, 0, BASES)
        sequences.append(np.concatenate([parts[0], np.tile(unit, rng.integers(0, 20)), *parts[1:]]))
    known = Signatures.of([str(number) for number in range(5)], sequences)
    places = masked_places(known.letters, known.offset, Tiling(length, step))
    found = [at for begin, end in places.tolist() for at in range(begin, end)]
    expected = [
        int(known.offset[index]) + at
        for index in range(5)
        for at in range(len(sequences[index]) - length + 1)
        if is_low_complexity(sequences[index][at : at + length])
    ]
    assert found == expected
    begins = [at - int(known.offset[np.searchsorted(known.offset, at, side="right") - 1]) for at in expected]
    assert masked_tiles(known, Tiling(length, step)).sum() == sum(at % step == 0 for at in begins)
    assert masked_tiles(known, Tiling(length, step)).sum() <= Tiling(length, step).tiles(known.lengths).sum()
    assert not masked_tiles(known, Tiling(length, step, mask=False)).any()
