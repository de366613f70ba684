"""Every quality from 0 to 127, every relation of lengths, and N, on every backend against the oracle.

Ten thousand such pairs: `python tests/backends/any_pairs.py --backend NAME`.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pairhmm import engine
from pairhmm.models import gatk, profile
from pairhmm.models.batch import FLOAT64, PairBatch
from pairhmm.models.profile import rows_of
from pairhmm.sequences.letters import HIGHEST_QUALITY

EXAMPLES = 15
PAIRS = 8  # of an example, in one batch

# Devices compile a kernel for each shape of reads, and for a gap quality that all of them share: these have few shapes,
# and a batch never has one gap quality.
LENGTHS = (1, 40, 150)
RELATIONS = ("piece", "chimera", "unrelated", "repeat")

QUALITY = st.integers(0, HIGHEST_QUALITY)
RANGE = st.one_of(QUALITY.map(lambda q: (q, q)), st.tuples(QUALITY, QUALITY).map(sorted))

shapes = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "read": st.sampled_from(LENGTHS) | st.integers(1, 300),
        "haplotype": st.integers(1, 300),
        "relation": st.sampled_from(RELATIONS),
        "qualities": st.tuples(RANGE, RANGE, RANGE, RANGE),
        "n": st.sampled_from([0.0, 0.05, 0.5, 1.0]),
    }
)
several = st.lists(shapes, min_size=1, max_size=PAIRS)


def made(any_pairs, found, backend):
    """Pairs, and one with other gap qualities."""
    varying = {"seed": 1, "read": 40, "haplotype": 30, "relation": "piece", "qualities": ((30, 40),) * 4, "n": 0.0}
    pairs = [any_pairs.Pair(**each) for each in (*found, varying)]
    if backend is None or backend.name == "cpu":
        return pairs
    return [replace(pair, read=min(LENGTHS, key=lambda length: abs(length - pair.read))) for pair in pairs]


def bounded(examples):
    return settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@bounded(EXAMPLES)
@given(found=several)
def test_the_oracle_is_right(found, any_pairs):
    """Against the recurrence in logarithms, which has no exponents to get wrong."""
    pairs = made(any_pairs, found, None)
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
    pairs = made(any_pairs, found, backend)
    any_pairs.check(backend, any_pairs.batch_of(pairs), pairs)


@bounded(EXAMPLES)
@given(found=several, data=st.data(), start=st.sampled_from(sorted(profile.STARTS)))
def test_any_profiles(found, data, start, backend, any_pairs):
    """The profile model with gaps of any price."""
    pairs = made(any_pairs, found, backend)
    gap = st.tuples(QUALITY, QUALITY).map(lambda found: tuple(gatk.ERROR[list(found)].tolist()))
    models = [any_pairs.profile_with_gaps(data.draw(gap), data.draw(gap), start) for _ in pairs]
    any_pairs.check(backend, any_pairs.rows_of_models(pairs, models), pairs)


@bounded(EXAMPLES)
@given(found=several, name=st.sampled_from(profile.PRESETS))
def test_any_calls(found, name, backend, any_pairs):
    """Bases and base qualities in the profile model: any kinds of rows, and N."""
    pairs = made(any_pairs, found, backend)
    any_pairs.check(backend, any_pairs.calls_of_model(pairs, profile.preset(name)), pairs)


@bounded(EXAMPLES)
@given(found=several)
def test_rescued_ones_are_right(found, backend, any_pairs):
    """All pairs in the arithmetic of those that float32 does not hold; NaN is left to the CPU by a device."""
    batch = any_pairs.batch_of(made(any_pairs, found, backend))
    expected = any_pairs.oracle(batch)
    scores = backend.forward_pairs(batch, np.arange(batch.pairs), 2)
    held = ~np.isnan(scores.log10)
    assert held.all() or backend.name != "cpu"
    assert (any_pairs.excess(scores.log10, batch, expected)[held] <= 1).all()
    is_wide = scores.precision == FLOAT64
    assert scores.log10[is_wide] == pytest.approx(expected[is_wide], rel=1e-9, abs=1e-9)


def test_rare_gaps(backend, any_pairs):
    """A read against a piece of itself: what is beyond the piece is inserted, at 10^-4.5 to 10^-12.7 a base."""
    groups, names = [], []
    for read, piece in ((400, slice(150, 250)), (150, slice(0, 40)), (1200, slice(500, 800))):
        bases = np.random.default_rng(read).integers(0, 4, read).astype(np.uint8)
        for gap in (45, 58, 60, 70, 80, 90, 100, 116, 127):
            values = (np.full(read, quality, np.uint8) for quality in (30, 45, 45, gap))
            groups.append(any_pairs.Group([any_pairs.Read(bases, *values)], [bases[piece].copy()]))
            names.append((read, gap))
    any_pairs.check(backend, PairBatch.from_groups(groups), names)


def test_openings_cheaper_than_extensions(backend, any_pairs):
    """Then gaps of one base follow each other, beside which a long one pays for every row."""
    sizes = [(549, 85, "unrelated"), (443, 82, "repeat"), (809, 93, "chimera"), (85, 549, "unrelated")]
    gaps = product((3, 12, 45), (55, 62, 80, 93, 121))
    pairs = [
        any_pairs.Pair(seed, *size, ((30, 30), (opening, opening), (opening, opening), (gap, gap)), 0.1)
        for (opening, gap), (seed, size) in product(gaps, enumerate(sizes))
    ]
    any_pairs.check(backend, any_pairs.batch_of(pairs), pairs)


def shifted(first, second, shift):
    """The bases of a read that follows two of the haplotype's diagonals, so many columns apart; and the haplotype."""
    haplotype = np.random.default_rng(3).integers(0, 4, first + second + abs(shift)).astype(np.uint8)
    begin, end = max(0, -shift), max(0, shift) + first
    return np.concatenate([haplotype[begin : begin + first], haplotype[end : end + second]]), haplotype


ONE_IS_RARE = {
    "no deletion": ((1e-5, 0.1), (0.0, 0.9)),
    "rare deletions": ((1e-5, 0.1), (1e-12, 1e-12)),
    "short deletions": ((1e-5, 0.1), (1e-5, 1e-12)),
    "no insertion": ((0.0, 0.1), (1e-5, 0.1)),
    "rare insertions": ((1e-12, 1e-12), (1e-5, 0.1)),
    "short insertions": ((1e-5, 1e-12), (1e-5, 0.1)),
    "no gap": ((0.0, 0.0), (0.0, 0.0)),
}
"""Probabilities of opening and extending an insertion, and a deletion."""


def test_one_kind_of_gap_is_rare(backend, any_pairs):
    """The diagonal that wins in the end is far behind its neighbours before, which hardly lead there."""
    rows, haplotypes, names = [], [], []
    for sizes in ((100, 200, 10), (100, 200, -10), (200, 400, 15), (200, 400, -15)):
        bases, haplotype = shifted(*sizes)
        letters = profile.one_hot(bases, np.full(len(bases), gatk.ERROR[40]))
        for name, gaps in ONE_IS_RARE.items():
            rows.append(any_pairs.profile_with_gaps(*gaps, "anywhere").rows(letters))
            haplotypes.append(haplotype)
            names.append((sizes, name))
    any_pairs.check(backend, any_pairs.of_rows(rows, haplotypes, profile.STARTS["anywhere"]), names)


@pytest.mark.parametrize("shift", [10, -10])
def test_no_gaps_in_a_long_read(shift, backend, any_pairs):
    """The same, beyond the range of float64."""
    bases, haplotype = shifted(700, 1200, shift)
    letters = profile.one_hot(bases, np.full(len(bases), gatk.ERROR[40]))
    model = any_pairs.profile_with_gaps(*ONE_IS_RARE["no gap"], "anywhere")
    any_pairs.check(backend, any_pairs.of_rows([model.rows(letters)], [haplotype], model.start), [shift])


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


def test_rounding_does_not_add_up(backend, any_pairs):
    """A perfect match, the same qualities everywhere: each row's coefficients are rounded to float32 alike."""
    indels = ((126, 79), (45, 45), (40, 40), (20, 33))
    others = ((30, 57), (37, 10), (25, 20), (41, 40), (33, 100))
    pairs = [
        any_pairs.Pair(seed, length, length + 5, "piece", tuple((q, q) for q in (base, *indel, gap)), 0.0)
        for length, (seed, indel), (base, gap) in product((150, 353, 500), enumerate(indels), others)
    ]
    any_pairs.check(backend, any_pairs.batch_of(pairs), pairs)
