"""Simulated reads: their CIGARs, their qualities, and errors that follow these."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm.simulate.reads import draw_qualities, draw_reads, true_cigar
from pairhmm.simulate.variants import SimulatedHaplotype

M, I, D, S = 0, 1, 2, 4  # noqa: E741 - BAM's names


@pytest.mark.parametrize(
    ("places", "start", "end", "cigar"),
    [
        ([5, 6, 7, 8], 5, 9, [(M, 4)]),
        ([5, 6, -1, 7], 5, 8, [(M, 2), (I, 1), (M, 1)]),
        ([5, 6, 9, 10], 5, 11, [(M, 2), (D, 2), (M, 2)]),
        ([5, -1, -1, 9], 5, 10, [(M, 1), (I, 2), (D, 3), (M, 1)]),
        ([-1, -1, 3, 4], 3, 5, [(S, 2), (M, 2)]),
        ([3, 4, -1], 3, 5, [(M, 2), (S, 1)]),
    ],
)
def test_true_cigar(places: list[int], start: int, end: int, cigar: list[tuple[int, int]]) -> None:
    assert true_cigar(np.array(places, dtype=np.int32)) == (start, end, cigar)


def test_qualities_look_like_a_run() -> None:
    rng = np.random.default_rng(3)
    quals = draw_qualities(rng, 2_000, 150, np.zeros(2_000, dtype=bool))
    second = draw_qualities(rng, 2_000, 150, np.ones(2_000, dtype=bool))
    assert quals.dtype == np.uint8 and quals.min() >= 2 and quals.max() <= 41
    assert quals[:, 10:40].mean() > quals[:, -30:].mean() + 2
    assert quals.mean() > second.mean()
    assert (quals >= 30).mean() > 0.75


def test_errors_follow_the_qualities() -> None:
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 4, 50_000, dtype=np.uint8)
    haplotype = SimulatedHaplotype(codes, np.arange(len(codes), dtype=np.int32))
    reads = draw_reads(rng, (haplotype, haplotype), 10_000, 100)
    plain = np.array([row not in reads.cigars for row in range(20_000)])
    places = reads.starts[plain][:, None] + np.arange(100)
    wrong = reads.codes[plain] != codes[places]
    quals = reads.quals[plain]
    for low, high in ((2, 12), (12, 20), (20, 28), (28, 42)):
        chosen = (quals >= low) & (quals < high)
        expected = (10.0 ** (quals[chosen] / -10.0)).sum()
        assert wrong[chosen].sum() == pytest.approx(expected, abs=5 * np.sqrt(expected))


def test_runs_of_one_base_slip() -> None:
    rng = np.random.default_rng(6)
    codes = rng.integers(0, 4, 3_000, dtype=np.uint8)
    codes[2_000:2_020] = 0
    codes[[1_999, 2_020]] = 1
    haplotype = SimulatedHaplotype(codes, np.arange(len(codes), dtype=np.int32))
    reads = draw_reads(rng, (haplotype, haplotype), 40_000, 100)
    slips = [(reads.starts[row] + cigar[0][1], [op for op, _ in cigar]) for row, cigar in reads.cigars.items()]
    in_run = [ops for place, ops in slips if place == 2_000]
    assert len(in_run) > 0.4 * len(slips) > 0
    assert [M, I, M] in in_run and [M, D, M] in in_run
