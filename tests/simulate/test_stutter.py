"""Stutter of simulated reads: which repeats there are, how often they change, and what alignments say of it."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm.simulate.reads import draw_reads
from pairhmm.simulate.stutter import PERIODS, draw_stutter, find_tracts, stutter_rates
from pairhmm.simulate.variants import SimulatedHaplotype

LENGTH = 100


def haplotype_of(codes: np.ndarray) -> SimulatedHaplotype:
    return SimulatedHaplotype(codes, np.arange(len(codes), dtype=np.int32))


def planted(unit: list[int], copies: int, around: int = 1_000) -> np.ndarray:
    """Random bases with one repeat, whose neighbours do not make it longer."""
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 4, 2 * around, dtype=np.uint8)
    tract = np.tile(np.array(unit, dtype=np.uint8), copies)
    codes[around - 1] = (tract[-1] + 1) % 4
    codes[around] = (tract[0] + 1) % 4
    return np.concatenate((codes[:around], tract, codes[around:]))


def brute_tracts(codes: np.ndarray, rates: np.ndarray) -> list[tuple[int, int, int]]:
    """Every maximal repeat, letter by letter."""
    found = []
    periods, most = rates.shape
    for start in range(len(codes)):
        for unit in range(1, periods + 1):
            if start and start - 1 + unit < len(codes) and codes[start - 1] == codes[start - 1 + unit]:
                continue
            end = start + unit
            while end < len(codes) and codes[end] == codes[end - unit]:
                end += 1
            copies = (end - start) // unit
            motif = codes[start : start + unit].tolist()
            is_shortest = not any(motif == (motif[:k] * unit)[:unit] for k in range(1, unit) if unit % k == 0)
            if copies > 1 and is_shortest and rates[unit - 1, min(copies, most) - 1] > 0:
                found.append((start, end, unit))
    return sorted(found)


def test_tracts_are_those_of_a_plain_search() -> None:
    rng = np.random.default_rng(1)
    rates = stutter_rates()
    for _ in range(20):
        codes = rng.integers(0, 2, 120, dtype=np.uint8)
        found = find_tracts(codes, rates)
        assert sorted(zip(*(column.tolist() for column in found), strict=True)) == brute_tracts(codes, rates)


def test_rates_grow_with_copies() -> None:
    rates = stutter_rates()
    assert rates.shape == (PERIODS, 20)
    assert (np.diff(rates, axis=1) >= 0).all() and 0 < rates.max() < 0.5


@pytest.mark.parametrize(("unit", "copies"), [([0], 15), ([0, 1], 10), ([0, 2, 1], 8)])
def test_a_repeat_changes_as_often_as_its_rate(unit: list[int], copies: int) -> None:
    codes = planted(unit, copies)
    rates = np.where(np.arange(1, 21) >= 4, 0.2, 0.0) * np.ones((PERIODS, 1))
    tracts = find_tracts(codes, rates)
    mine = np.flatnonzero((tracts.start == 1_000) & (tracts.unit == len(unit)))
    assert len(mine) == 1 and tracts.copies[mine[0]] == copies
    reads = 5_000
    source, gained, changed = draw_stutter(np.random.default_rng(2), codes, tracts, rates, np.full(reads, 970), LENGTH)
    steps = np.diff(np.where(gained, -1, source), axis=1)
    lost = np.array([1_000 not in row for row in source])
    won = gained[:, 30]
    expected = reads * 0.2
    assert won.sum() + lost.sum() == pytest.approx(expected, abs=5 * np.sqrt(expected))
    assert lost.sum() == pytest.approx(0.7 * expected, abs=5 * np.sqrt(0.7 * expected))
    assert not (steps[~changed] != 1).any()
    # A read that changed spells the repeat with that many units more or fewer.
    spelled = codes[source]
    for row in np.flatnonzero(won)[:50]:
        units = int(gained[row, 30:].argmin()) // len(unit)
        assert spelled[row, 30 : 30 + (copies + units) * len(unit)].tolist() == unit * (copies + units)


def test_alignments_show_the_changes() -> None:
    codes = planted([3], 15)
    rates = np.full((1, 20), 0.5) * (np.arange(1, 21) == 15)
    reads = draw_reads(np.random.default_rng(3), (haplotype_of(codes),) * 4, 500, LENGTH, stutter=rates)
    ops = {op for cigar in reads.cigars.values() for op, _ in cigar}
    assert ops == {0, 1, 2}
    for row, cigar in reads.cigars.items():
        assert reads.starts[row] + cigar[0][1] == 1_000
        assert reads.ends[row] - reads.starts[row] == LENGTH + sum({1: -1, 2: 1}.get(op, 0) * n for op, n in cigar)


def test_a_rate_of_nought_changes_nothing() -> None:
    codes = np.random.default_rng(4).integers(0, 2, 500, dtype=np.uint8)
    rates = np.zeros((PERIODS, 20))
    begin = np.arange(0, 400, 40)
    source, gained, changed = draw_stutter(
        np.random.default_rng(1), codes, find_tracts(codes, rates), rates, begin, LENGTH
    )
    assert not gained.any() and not changed.any() and (source == begin[:, None] + np.arange(LENGTH)).all()
