"""Reads drawn from the profile model have its gaps and letters."""

from __future__ import annotations

import numpy as np

from pairhmm.simulate.profile_errors import INSERTED, ProfileErrors, draw_letters, draw_places
from pairhmm.simulate.reads import draw_reads
from pairhmm.simulate.variants import SimulatedHaplotype

MATCH = np.array([[0.97, 0.0, 0.0, 0.0], [0.03, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.1], [0.0, 0.0, 0.0, 0.9]])
ERRORS = ProfileErrors(MATCH, np.array([0.5, 0.0, 0.5, 0.0]), np.array([0.95, 0.02, 0.03]), np.array([0.25, 0.5]))
READS, LENGTH = 4000, 100


def within_noise(found: int, expected: float) -> bool:
    return abs(found - expected) <= 5 * np.sqrt(expected)


def test_places_have_the_transitions() -> None:
    rng = np.random.default_rng(1)
    places = draw_places(rng, ERRORS, rng.integers(0, 500, READS), LENGTH, 1000)
    assert (places[:, 0] != INSERTED).all() and places.max() < 1000
    before, after = places[:, :-1], places[:, 1:]
    matched, inserted = before != INSERTED, after == INSERTED
    from_match, opened = int(matched.sum()), int((matched & inserted).sum())
    assert within_noise(opened, 0.02 * from_match)
    assert within_noise(int((~matched & inserted).sum()), 0.25 * int((~matched).sum()))
    steps = (after - before)[matched & ~inserted]
    assert within_noise(int((steps > 1).sum()), 0.03 * from_match)
    assert within_noise(int((steps > 2).sum()), 0.5 * int((steps > 1).sum()))


def test_reads_at_the_end_of_a_haplotype_fit_it() -> None:
    rng = np.random.default_rng(2)
    long = ProfileErrors(MATCH, ERRORS.insertion, np.array([0.5, 0.0, 0.5]), np.array([0.1, 0.99]))
    places = draw_places(rng, long, np.full(200, 20), 30, 50)
    assert places.min() >= 0 and places.max() <= 49
    assert (np.diff(places, axis=1) >= 1).all()


def test_letters_have_the_emissions() -> None:
    rng = np.random.default_rng(3)
    haplotype = rng.integers(0, 4, 2000).astype(np.uint8)
    places = draw_places(rng, ERRORS, rng.integers(0, 500, READS), LENGTH, 2000)
    letters = draw_letters(rng, ERRORS, haplotype, places)
    beside = np.where(places == INSERTED, 9, haplotype[places])
    for h in range(4):
        for a in range(4):
            expected = MATCH[a, h] * (beside == h).sum()
            assert within_noise(int(((letters == a) & (beside == h)).sum()), expected)
    assert within_noise(int((letters[beside == 9] == 0).sum()), 0.5 * (beside == 9).sum())


def test_cigars_tell_the_gaps_that_were_drawn() -> None:
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 4, 5000).astype(np.uint8)
    haplotype = SimulatedHaplotype(codes, np.arange(5000, dtype=np.int32))
    exact = ProfileErrors(np.eye(4), ERRORS.insertion, ERRORS.from_match, ERRORS.extension)
    reads = draw_reads(rng, (haplotype, haplotype), 500, LENGTH, exact)
    wrong = bases = 0
    for row, cigar in reads.cigars.items():
        at, place = 0, int(reads.starts[row])
        for operation, length in cigar:
            if operation == 0:
                beside = codes[place : place + length]
                wrong += int((reads.codes[row, at : at + length] != beside).sum())
                bases += length
            at += length if operation in (0, 1, 4) else 0
            place += length if operation in (0, 2) else 0
        assert at == LENGTH and place == reads.ends[row]
    assert len(reads.cigars) > 800
    assert wrong / bases < 0.02
