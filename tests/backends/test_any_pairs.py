"""Every quality from 0 to 127, every relation of lengths, and N, on every backend against the oracle.

Ten thousand such pairs: `python tests/backends/any_pairs.py --backend NAME`.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pairhmm import engine
from pairhmm.batch import FLOAT64, HIGHEST_QUALITY, PairBatch, offsets
from pairhmm.models import gatk, profile
from pairhmm.models.rows import rows_of

EXAMPLES = 25
PAIRS = 8  # of an example, in one batch

QUALITY = st.integers(0, HIGHEST_QUALITY)
RANGE = st.one_of(QUALITY.map(lambda q: (q, q)), st.tuples(QUALITY, QUALITY).map(sorted))
RELATIONS = ("piece", "chimera", "unrelated", "repeat")

shapes = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "read": st.integers(1, 300),
        "haplotype": st.integers(1, 300),
        "relation": st.sampled_from(RELATIONS),
        "qualities": st.tuples(RANGE, RANGE, RANGE, RANGE),
        "n": st.sampled_from([0.0, 0.05, 0.5, 1.0]),
    }
)
several = st.lists(shapes, min_size=1, max_size=PAIRS)


def made(any_pairs, found):
    return [any_pairs.Pair(**each) for each in found]


def bounded(examples):
    return settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@bounded(EXAMPLES)
@given(found=several)
def test_the_oracle_is_right(found, any_pairs):
    """Against the recurrence in logarithms, which has no exponents to get wrong."""
    pairs = made(any_pairs, found)
    batch = any_pairs.batch_of(pairs)
    rows = rows_of(batch)
    scores = engine.forward(batch, "reference").log10
    for k in range(batch.pairs):
        read, haplotype = (slice(*at[k : k + 2]) for at in (batch.read_offset, batch.haplotype_offset))
        expected = any_pairs.forward_in_logs(rows[read], batch.haplotypes[haplotype], batch.start)
        assert scores[k] == pytest.approx(expected, rel=1e-10, abs=1e-10), pairs[k]


@bounded(EXAMPLES)
@given(found=several)
def test_any_pairs(found, backend, any_pairs):
    pairs = made(any_pairs, found)
    any_pairs.check(backend, any_pairs.batch_of(pairs), pairs)


@bounded(EXAMPLES)
@given(found=several, gaps=st.tuples(QUALITY, QUALITY, QUALITY), start=st.sampled_from(sorted(profile.STARTS)))
def test_any_profiles(found, gaps, start, backend, any_pairs):
    """The profile model with gaps of any price."""
    pairs = made(any_pairs, found)
    any_pairs.check(backend, any_pairs.profiles_of(pairs, any_pairs.rare_profile(*gaps, start)), pairs)


@bounded(EXAMPLES)
@given(found=several)
def test_float64_holds_any_pair(found, backend, any_pairs):
    """All pairs in the arithmetic of rescued ones; NaN is left to the CPU by a device."""
    batch = any_pairs.batch_of(made(any_pairs, found))
    expected = any_pairs.oracle(batch)
    scores = backend.forward_pairs(batch, np.arange(batch.pairs), 2)
    held = ~np.isnan(scores.log10)
    assert held.all() or backend.name != "cpu"
    assert (any_pairs.excess(scores.log10, batch, expected)[held] <= 1).all()
    is_wide = scores.precision == FLOAT64
    assert scores.log10[is_wide] == pytest.approx(expected[is_wide], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("read", "haplotype"), [(400, slice(150, 250)), (150, slice(0, 40)), (1200, slice(500, 800))])
@pytest.mark.parametrize("gap", [45, 58, 60, 70, 80, 90, 100, 116, 127])
def test_rare_gaps(read, haplotype, gap, backend, any_pairs):
    """A read against a piece of itself: what is beyond the piece is inserted, at 10^-4.5 to 10^-12.7 a base."""
    bases = np.random.default_rng(read).integers(0, 4, read).astype(np.uint8)
    values = (np.full(read, quality, np.uint8) for quality in (30, 45, 45, gap))
    group = any_pairs.Group([any_pairs.Read(bases, *values)], [bases[haplotype].copy()])
    any_pairs.check(backend, PairBatch.from_groups([group]), [f"gap {gap}"])


@pytest.mark.parametrize("opening", [3, 12, 45])
@pytest.mark.parametrize("gap", [55, 62, 80, 93, 121])
def test_openings_cheaper_than_extensions(opening, gap, backend, any_pairs):
    """Then gaps of one base follow each other, beside which a long one pays for every row."""
    pairs = [
        any_pairs.Pair(
            seed, read, haplotype, relation, ((30, 30), (opening, opening), (opening, opening), (gap, gap)), 0.1
        )
        for seed, (read, haplotype, relation) in enumerate(
            [(549, 85, "unrelated"), (443, 82, "repeat"), (809, 93, "chimera"), (85, 549, "unrelated")]
        )
    ]
    any_pairs.check(backend, any_pairs.batch_of(pairs), pairs)


def shifted(any_pairs, first, second, shift, **transitions):
    """A read that follows the haplotype's diagonals one after the other, so many columns apart."""
    rng = np.random.default_rng(3)
    haplotype = rng.integers(0, 4, first + second + abs(shift)).astype(np.uint8)
    begin, end = max(0, -shift), max(0, shift) + first
    bases = np.concatenate([haplotype[begin : begin + first], haplotype[end : end + second]])
    given = profile.preset("normalised")
    transitions["MM"] = 1 - transitions["MI"] - transitions["MD"]
    transitions |= {"IM": 1 - transitions["II"], "DM": 1 - transitions["DD"]}
    model = profile.ProfileModel(given.match, given.insertion, transitions, profile.STARTS["anywhere"])
    probabilities = profile.one_hot(bases, np.full(len(bases), gatk.ERROR[40]))
    one = offsets([1])
    places = one, one, offsets([len(bases)]), offsets([len(haplotype)])
    return PairBatch(*places, haplotype, model.start, profiles=model.profiles(probabilities))


@pytest.mark.parametrize(
    ("first", "second", "shift"), [(100, 200, 10), (100, 200, -10), (200, 400, 15), (200, 400, -15)]
)
@pytest.mark.parametrize(
    ("deletion", "insertion"),
    [
        ((0, 0.9), (1e-5, 0.1)),
        ((1e-12, 1e-12), (1e-5, 0.1)),
        ((1e-5, 1e-12), (1e-5, 0.1)),
        ((1e-5, 0.1), (1e-12, 1e-12)),
        ((1e-5, 0.1), (0, 0.1)),
        ((1e-5, 0.1), (1e-5, 1e-12)),
        ((0, 0), (0, 0)),
    ],
    ids=str,
)
def test_one_kind_of_gap_is_rare(first, second, shift, deletion, insertion, backend, any_pairs):
    """The diagonal that wins in the end is far behind its neighbours before, which hardly lead there."""
    (md, dd), (mi, ii) = deletion, insertion
    any_pairs.check(
        backend, shifted(any_pairs, first, second, shift, MD=md, DD=dd, MI=mi, II=ii), [(deletion, insertion)]
    )


@pytest.mark.parametrize("shift", [10, -10])
def test_no_gaps_in_a_long_read(shift, backend, any_pairs):
    """The same, beyond the range of float64."""
    any_pairs.check(backend, shifted(any_pairs, 700, 1200, shift, MD=0, DD=0, MI=0, II=0), [shift])


def test_rare_gaps_do_not_depend_on_threads(any_pairs):
    """Cells with exponents of their own, in strips that follow each other."""
    rng = np.random.default_rng(5)
    pairs = [
        any_pairs.Pair(int(seed), 3000, 2000, "chimera", ((10, 30), (60, 90), (60, 90), (60, 127)), 0.01)
        for seed in rng.integers(100, size=2)
    ]
    batch = any_pairs.batch_of(pairs)
    backend = any_pairs.load_backend("cpu")
    every = np.arange(batch.pairs)
    alone = backend.forward_pairs(batch, every, 1).log10
    for threads in (2, 3, 8):
        assert (backend.forward_pairs(batch, every, threads).log10 == alone).all()
        assert (backend.forward_pairs(batch, every[::-1].copy(), threads).log10[::-1] == alone).all()


@pytest.mark.parametrize("length", [100, 250, 500])
@pytest.mark.parametrize(("base", "gap"), [(30, 57), (37, 10), (25, 20), (41, 40), (33, 100)])
def test_rounding_does_not_add_up(length, base, gap, backend, any_pairs):
    """A perfect match, the same qualities everywhere: each row's coefficients are rounded to float32 alike."""
    indels = ((126, 79), (45, 45), (40, 40), (20, 33))
    pairs = [
        any_pairs.Pair(seed, length, length + 5, "piece", tuple((q, q) for q in (base, *indel, gap)), 0.0)
        for seed, indel in enumerate(indels)
    ]
    any_pairs.check(backend, any_pairs.batch_of(pairs), pairs)
