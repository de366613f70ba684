"""Forward-backward on the CPU: equal to the oracle for any pairs, on every SIMD level, whatever the threads."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairhmm import engine
from pairhmm.backends import cpu
from pairhmm.forward.posterior import Posterior, by_cpu, by_oracle
from pairhmm.models.batch import Group, PairBatch, Read, Start
from pairhmm.sequences.letters import encode

LEVELS = [name for name, runs in cpu.instruction_sets() if runs]
CODES = st.integers(0, 4)


@st.composite
def batches(draw: st.DrawFn, longest: int = 24, highest: int = 127) -> PairBatch:
    """Reads of 1 to `longest` bases, some cut from a haplotype, with Phred qualities from 0 (gaps: 1) to `highest`."""
    letters = st.lists(CODES, min_size=1, max_size=longest)
    haplotypes = [np.array(one, dtype=np.uint8) for one in draw(st.lists(letters, min_size=1, max_size=3))]
    reads = []
    for _ in range(draw(st.integers(1, 4))):
        if draw(st.booleans()):
            whole = haplotypes[0]
            begin = draw(st.integers(0, len(whole) - 1))
            bases = whole[begin : draw(st.integers(begin + 1, len(whole)))].copy()
        else:
            bases = np.array(draw(letters), dtype=np.uint8)
        random = np.random.default_rng(draw(st.integers(0, 2**32)))
        quality = [random.integers(least, highest + 1, len(bases)).astype(np.uint8) for least in (0, 1, 1, 1)]
        reads.append(Read(bases, *quality))
    start = draw(st.sampled_from([Start(0.0, 1.0), Start(1.0, 0.0)]))
    return PairBatch.from_groups([Group(reads, haplotypes)], start)


def assert_equal(found: list[Posterior], expected: list[Posterior]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert one.log10 == other.log10 or abs(one.log10 - other.log10) <= 1e-9 * max(1, abs(other.log10))
        for name in ("match", "insertion", "deletion"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-9)
        if np.isfinite(one.log10):
            np.testing.assert_allclose(one.base_match + one.base_insertion, 1, atol=1e-9)


@given(batches())
def test_the_oracle_sums_to_forward_and_to_one(batch: PairBatch) -> None:
    scores = engine.forward(batch, "reference", 1).log10
    for one, score in zip(by_oracle(batch), scores, strict=True):
        assert one.log10 == score == -np.inf or abs(one.log10 - score) <= 1e-9 * max(1, abs(score))
        if np.isfinite(score):
            np.testing.assert_allclose(one.base_match + one.base_insertion, 1, atol=1e-9)
        else:
            assert not (one.match.any() or one.insertion.any() or one.deletion.any())


@pytest.mark.parametrize("level", LEVELS)
def test_the_cpu_equals_the_oracle(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cpu.ISA_VARIABLE, level)

    @settings(max_examples=60)
    @given(batches())
    def check(batch: PairBatch) -> None:
        assert_equal(by_cpu(batch, 1), by_oracle(batch))

    check()


def read(bases: str, quality: int, gap: int) -> Read:
    codes = encode(bases)
    same = [np.full(len(codes), value, dtype=np.uint8) for value in (quality, gap, gap, gap)]
    return Read(codes, *same)


def batch_of(reads: list[Read], haplotypes: list[str]) -> PairBatch:
    return PairBatch.from_groups([Group(reads, haplotypes)])


def test_threads_change_nothing() -> None:
    rng = np.random.default_rng(1)
    letters = "".join(rng.choice(list("ACGT"), 300))
    reads = [read(letters[a : a + n], 30, 45) for a, n in rng.integers(1, 150, (40, 2)).tolist()]
    batch = batch_of(reads, [letters, letters[50:]])
    alone, together = by_cpu(batch, 1), by_cpu(batch, 3)
    for one, other in zip(alone, together, strict=True):
        assert one.log10 == other.log10
        assert (one.match == other.match).all() and (one.deletion == other.deletion).all()


def test_an_insertion_and_a_deletion_lie_where_they_are() -> None:
    haplotype = "ACGTTGCATCAGGTCATTGCACCTAGAC"
    inserted, deleted = haplotype[:14] + "T" + haplotype[14:], haplotype[:14] + haplotype[16:]
    first, second = by_cpu(batch_of([read(inserted, 40, 45), read(deleted, 40, 45)], [haplotype]), 1)
    assert first.base_insertion.argmax() in (14, 15, 16) and first.base_insertion.sum() == pytest.approx(1, abs=1e-2)
    assert second.letter_deletion[14:16].sum() == pytest.approx(2, abs=0.1)
    assert second.letter_match[14:16].sum() < 0.1


def test_a_range_beyond_float64_is_left_to_the_oracle_and_told(caplog: pytest.LogCaptureFixture) -> None:
    """The best path begins where others lead by more than float64 holds, and gaps of Phred 127 hardly connect them."""
    rng = np.random.default_rng(7)
    one, two = ("".join(rng.choice(list("ACGT"), size)) for size in (60, 120))
    batch = batch_of([read(one + two, 120, 127)], [two + "N" * 70 + one])
    with caplog.at_level(logging.WARNING, "pairhmm"):
        found = by_cpu(batch, 1)
    assert "1 of 1 pairs in log space" in caplog.text
    assert_equal(found, by_oracle(batch))


def test_what_has_no_path_has_no_posterior() -> None:
    batch = batch_of([read("ACGT", 0, 1)], ["ACGT"])
    rows = np.zeros((4, 12))
    nothing = PairBatch(
        batch.group_read,
        batch.group_haplotype,
        batch.read_offset,
        batch.haplotype_offset,
        batch.haplotypes,
        batch.start,
        rows=rows,
    )
    (found,) = by_cpu(nothing, 1)
    assert found.log10 == -np.inf and not found.match.any()
