"""The SIMD aligner gives the scores and the alignments of the oracle, at every level that runs here."""

import signal
import threading

import numpy as np
import pytest

from pairhmm.align import cpu as aligning_cpu
from pairhmm.align.base import Alignments, SequencePairs, Sequences
from pairhmm.align.scoring import LARGEST_SCORE, PRESETS, Scoring
from pairhmm.backends import cpu
from tests.align import any_pairs

LEVELS = [name for name, runs in cpu.instruction_sets() if runs]

if not LEVELS:
    pytest.skip("the compiled part is not installed", allow_module_level=True)


@pytest.fixture(scope="module", params=LEVELS)
def aligner(request):
    return aligning_cpu.CpuAligner(request.param)


def related(rng, count, length, errors, letters=4):
    """Queries of about that length, and targets that differ from them."""
    queries = [rng.integers(0, letters, length) for _ in range(count)]
    targets = [any_pairs.with_errors(rng, query, letters, errors) for query in queries]
    return SequencePairs.in_order(
        *(Sequences.of([np.asarray(codes, dtype=np.uint8) for codes in side]) for side in (queries, targets))
    )


@pytest.mark.parametrize("form", ["edit", "linear", "affine", "extreme"])
def test_random_pairs(aligner, form):
    for pairs, scoring in any_pairs.any_batches(seed=7, pairs=300, longest=700, form=form):
        any_pairs.check(aligner, pairs, scoring)


@pytest.mark.parametrize("mode", ["global", "semi-global"])
@pytest.mark.parametrize(("length", "errors"), [(700, 0.02), (900, 0.1), (600, 0.9)])
def test_bands_of_edit_distances(aligner, length, errors, mode):
    """Distances below the first band, in a later one, and above all of them, beside one another."""
    rng = np.random.default_rng(length)
    pairs = related(rng, 10, length, errors)
    shifted = np.roll(pairs.target_index, 1)
    mixed = SequencePairs(pairs.queries, pairs.targets, pairs.query_index, np.where(shifted % 4, shifted, 0))
    for each in (pairs, mixed):
        any_pairs.check(aligner, each, Scoring(0, -1, -1, -1, mode))


@pytest.mark.parametrize("length", [256, 257, 258])
def test_no_score_wraps(aligner, length):
    """Costs around the largest one of 16 bits, beside one that is far above it."""
    scoring = Scoring(0, -255, -LARGEST_SCORE, -LARGEST_SCORE)
    queries, targets = (
        Sequences.of([np.full(count, code, dtype=np.uint8) for count in (length, 10 * length)]) for code in (0, 1)
    )
    pairs = SequencePairs.in_order(queries, targets)
    expected = [-255 * length, -2550 * length]
    assert aligner.scores(pairs, scoring, 1).tolist() == expected
    found = aligner.alignments(pairs, scoring, 1)
    assert found.scores.tolist() == expected
    assert (found.cigars >> 4).tolist() == [length, 10 * length]


def test_long_pairs(aligner):
    """Pairs whose marks take more memory than is used at a time, by several ways to the same alignment."""
    pairs = related(np.random.default_rng(5), 1, 17_000, 0.02)
    query, target = pairs.queries[0], pairs.targets[0]
    edit, affine = PRESETS["edit"], Scoring()
    for scoring, factor in ((edit, 2), (affine, 200)):
        scores = scoring.match, scoring.mismatch, scoring.gap_open, scoring.gap_extend
        wide = Scoring(*(factor * score for score in scores))
        found, again = (aligner.alignments(pairs, one, 1) for one in (scoring, wide))
        assert not any_pairs.flaw_of(found, 0, query, target, scoring)
        assert aligner.scores(pairs, scoring, 1).tolist() == found.scores.tolist()
        assert (factor * found.scores).tolist() == again.scores.tolist()
        np.testing.assert_array_equal(found.cigars, again.cigars)


@pytest.mark.parametrize("form", ["edit", "affine"])
def test_threads_change_nothing(aligner, form):
    for pairs, scoring in any_pairs.any_batches(seed=9, pairs=100, form=form):
        one, many = (aligner.alignments(pairs, scoring, threads) for threads in (1, 5))
        for name in Alignments.__dataclass_fields__:
            np.testing.assert_array_equal(getattr(one, name), getattr(many, name))
        np.testing.assert_array_equal(aligner.scores(pairs, scoring, 5), one.scores)


@pytest.mark.parametrize("scoring", [Scoring(), PRESETS["edit"]], ids=["affine", "edit"])
def test_an_interrupt_ends_a_long_alignment(aligner, scoring):
    sides = [Sequences.of([np.full(90_000, code, dtype=np.uint8)]) for code in (0, 1)]
    pairs = SequencePairs(*sides, *(np.zeros(40, dtype=np.int32) for _ in sides))
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        aligner.scores(pairs, scoring, 1)
    timer.join()


def test_no_pairs(aligner):
    none = SequencePairs.in_order(Sequences.of([]), Sequences.of([]))
    assert len(aligner.scores(none, Scoring(), 2)) == 0
    assert aligner.alignments(none, Scoring(), 2).offsets.tolist() == [0]
