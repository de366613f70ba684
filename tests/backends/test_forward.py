"""Every SIMD level against the oracle, and the oracle against the recurrence in logarithms."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairhmm import backends, engine
from pairhmm.backends import cpu
from pairhmm.errors import InputError
from pairhmm.models import profile
from pairhmm.models.batch import FLOAT32, FLOAT64, Group, PairBatch, Read, Start
from pairhmm.sequences.arrays import offsets

TOLERANCE = 1e-5  # log10, reads up to 500 bases
LEVELS = [name for name, runs in cpu.instruction_sets() if runs]


def rows_batch(rows, haplotype, start):
    return PairBatch(
        offsets([1]), offsets([1]), offsets([len(rows)]), offsets([len(haplotype)]), haplotype, start, rows=rows
    )


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), m=st.integers(1, 14), n=st.integers(1, 14), zero=st.booleans())
def test_oracle_is_the_recurrence(seed, m, n, zero, any_pairs):
    rng = np.random.default_rng(seed)
    rows = rng.random((m, 12)) / 2
    if zero:
        rows[:, int(rng.integers(5, 12))] = 0
    haplotype = rng.integers(0, 5, n).astype(np.uint8)
    start = Start(match=float(rng.integers(0, 2)), deletion=float(rng.integers(0, 2)))
    score = engine.forward(rows_batch(rows, haplotype, start), "reference").log10[0]
    expected = any_pairs.forward_in_logs(rows, haplotype, start)
    assert score == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("level", LEVELS)
def test_long_pair(level, monkeypatch):
    monkeypatch.setenv(cpu.ISA_VARIABLE, level)
    rng = np.random.default_rng(3)
    haplotype = rng.integers(0, 4, 2000).astype(np.uint8)
    bases = np.delete(haplotype, rng.integers(0, 2000, 60))
    errors = rng.random(len(bases)) < 0.1
    bases[errors] = (bases[errors] + 1) % 4
    # A chimera: its second half matches elsewhere, 600 orders of magnitude below the best path when it begins.
    bases = np.concatenate([bases[:900], haplotype[:700]])
    constant = (np.full(len(bases), value, dtype=np.uint8) for value in (13, 20, 20, 10))
    batch = PairBatch.from_groups([Group([Read(bases, *constant)], [haplotype])])
    scores = engine.forward(batch, "cpu", threads=2)
    expected = engine.forward(batch, "reference").log10[0]
    assert scores.precision[0] == FLOAT64
    assert abs(scores.log10[0] / expected - 1) <= 1e-6


def test_long_pair_does_not_depend_on_threads():
    """A strip must not see what the strips above it have still to write, however soon its thread starts."""
    rng = np.random.default_rng(4)
    model = profile.preset("normalised")
    rows = model.rows(rng.dirichlet(np.full(4, 0.2), size=3000))
    batch = rows_batch(rows, rng.integers(0, 4, 3000).astype(np.uint8), model.start)
    only = np.zeros(1, dtype=np.int64)
    backend = backends.load("cpu")
    alone = backend.forward_pairs(batch, only, 1).log10[0]
    assert {backend.forward_pairs(batch, only, threads).log10[0] for threads in (2, 3, 8) for _ in range(20)} == {alone}


MODELS = {
    "normalised": {},
    "gatk": {"match": np.hstack([np.eye(4), np.ones((4, 1))]), "insertion": np.ones(4)},
    "insertions of A": {"insertion": np.array([0.7, 0.1, 0.15, 0.05])},
    "rare gaps": {"transitions": {"II": 1e-9, "DD": 1e-7}},
    "no insertion goes on": {"transitions": {"II": 0.0}},
    "no deletion": {"transitions": {"MD": 0.0, "MM": 0.9999}},
    "gaps by copies": {"by_copies": np.array([np.geomspace(1e-5, 0.3, 20), np.geomspace(1e-4, 0.5, 20)])},
    "some deletions cannot open": {"by_copies": np.array([[0.001] * 20, [0.0, *[0.01] * 19]])},
    "long gaps": {"transitions": {"IM": 0.1, "II": 0.9, "DM": 0.3, "DD": 0.7, "MI": 0.01, "MD": 0.02}},
}
"""Changes of the preset `normalised`. The kernels have a form of their own for several of these."""


def called_reads(change):
    """Reads of 1 to 160 bases, and one of 600, that a profile model takes as base calls."""
    rng = np.random.default_rng(11)
    given = profile.preset("normalised")
    change = {**change, "transitions": {**given.transitions, **change.get("transitions", {})}}
    haplotypes = [rng.integers(0, 4, n).astype(np.uint8) for n in (230, 233, 650)]
    haplotypes[1][:220] = haplotypes[0][:220]
    reads = []
    for length in [1, 2, 7, *rng.integers(20, 160, 20), 600]:
        of = haplotypes[-1 if length > 300 else rng.integers(3)]
        begin = rng.integers(0, len(of) - length + 1)
        reads.append(np.delete(of[begin : begin + length], length // 2) if length > 50 else of[begin : begin + length])
    lengths, bases = [len(read) for read in reads], np.concatenate(reads)
    wrong = rng.random(len(bases)) < 0.02
    bases[wrong] = rng.integers(0, 15, wrong.sum())
    model = replace(given, **change)
    called = model.base_calls(bases, rng.integers(2, 42, len(bases), dtype=np.uint8))
    profiles = model.with_repeats(called, offsets(lengths))
    groups, widths = offsets([len(reads)]), offsets([len(each) for each in haplotypes])
    letters, start = np.concatenate(haplotypes), profile.STARTS["anywhere"]
    return PairBatch(groups, offsets([3]), offsets(lengths), widths, letters, start, profiles=profiles)


@pytest.mark.parametrize("change", MODELS.values(), ids=MODELS)
def test_reads_of_base_calls(change, monkeypatch):
    batch = called_reads(change)
    expected = engine.forward(batch, "reference").log10
    short = np.repeat(np.diff(batch.read_offset) <= 500, 3)
    for level in LEVELS:
        monkeypatch.setenv(cpu.ISA_VARIABLE, level)
        scores = engine.forward(batch, "cpu").log10
        np.testing.assert_allclose(scores[short], expected[short], rtol=0, atol=TOLERANCE)
        np.testing.assert_allclose(scores[~short], expected[~short], rtol=1e-6)


@pytest.mark.parametrize("change", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("level", LEVELS)
def test_rows_by_number_have_the_scores_of_rows(change, level, monkeypatch):
    """Bit for bit, and whatever the batch."""
    monkeypatch.setenv(cpu.ISA_VARIABLE, level)
    batch = called_reads(change)
    numbered = engine.forward(batch, "cpu").log10
    profiles = replace(batch.profiles, probabilities=batch.profiles.at_bases, kinds=None)
    if profiles.have_repeats:
        profiles = replace(profiles, transitions=profiles.transitions[batch.profiles.kinds])
    for same in (replace(batch, profiles=profiles), replace(batch, profiles=None, rows=profile.rows(batch.profiles))):
        assert np.array_equal(engine.forward(same, "cpu").log10, numbered)
    assert np.array_equal(engine.forward(batch.take_reads(3, 20), "cpu").log10, numbered[9:60])


@pytest.mark.parametrize("closed", [slice(0, 1), slice(9, 10), slice(1, None), slice(None)])
def test_rows_whose_deletions_cannot_open(closed, monkeypatch):
    batch = called_reads({}).take_reads(5, 20)
    rows = profile.rows(batch.profiles)
    for first, end in itertools.pairwise(batch.read_offset):
        rows[first:end][closed, 10] = 0
    batch = replace(batch, profiles=None, rows=rows)
    expected = engine.forward(batch, "reference").log10
    for level in LEVELS:
        monkeypatch.setenv(cpu.ISA_VARIABLE, level)
        np.testing.assert_allclose(engine.forward(batch, "cpu").log10, expected, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("md", [None, 0.0], ids=["deletions", "no deletions"])
def test_rows_that_match_nothing(md, monkeypatch):
    """Every read passes one such row as an insertion: in its middle, or its last one."""
    batch = called_reads({"insertion": np.array([0.7, 0.1, 0.15, 0.05])}).take_reads(1, 20)
    rows = profile.rows(batch.profiles)
    if md is not None:
        rows[:, 10] = md
    for number, (first, end) in enumerate(itertools.pairwise(batch.read_offset)):
        rows[end - 1 if number % 2 else (first + end) // 2, :5] = 0
    batch = replace(batch, profiles=None, rows=rows)
    expected = engine.forward(batch, "reference").log10
    for level in LEVELS:
        monkeypatch.setenv(cpu.ISA_VARIABLE, level)
        scores = engine.forward(batch, "cpu")
        np.testing.assert_allclose(scores.log10, expected, rtol=0, atol=TOLERANCE)
        assert (scores.precision == FLOAT32).mean() > 0.5


def cells_of(group):
    return sum(len(read.bases) for read in group.reads) * sum(map(len, group.haplotypes))


@pytest.mark.parametrize("name", ["10s.in", pytest.param("1m.in", marks=pytest.mark.nightly)])
def test_real_groups(name, shared_data):
    from pairhmm.forward.pair_texts import read_in

    groups = list(read_in(shared_data / name))
    batch = PairBatch.from_groups(groups)
    scores = engine.forward(batch, "cpu", threads=2)
    is_rescued = scores.precision == FLOAT64
    assert np.isfinite(scores.log10).all()
    assert is_rescued.sum() <= (13 if name == "1m.in" else 0)
    # The oracle is slow, and most cells are in five of the groups. None of them has a rescued pair.
    pairs = [slice(*batch.group_pair[k : k + 2]) for k in range(len(groups))]
    chosen = [k for k, group in enumerate(groups) if cells_of(group) < 20_000_000]
    assert np.concatenate([is_rescued[pairs[k]] for k in chosen]).sum() == is_rescued.sum()
    expected = engine.forward(PairBatch.from_groups([groups[k] for k in chosen]), "reference").log10
    assert np.abs(np.concatenate([scores.log10[pairs[k]] for k in chosen]) - expected).max() <= TOLERANCE


def test_the_compiled_part_is_here(require):
    """Without it the tests above have no level to run."""
    status = backends.status("cpu")
    require("cpu", status.available, f"{status.reason}; {status.cure}")
    assert status.detail == LEVELS[-1]


def test_forced_level_that_is_not_there(monkeypatch):
    monkeypatch.setenv(cpu.ISA_VARIABLE, "avx1024")
    with pytest.raises(InputError, match=f"PAIRHMM_CPU: avx1024: .*; unset it or use one of {', '.join(LEVELS)}$"):
        backends.status("cpu")
