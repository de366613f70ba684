"""The SIMD aligner gives the scores and the alignments of the oracle, at every level that runs here."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm.aligning import cpu as aligning_cpu
from pairhmm.aligning.batch import SequencePairs, Sequences
from pairhmm.aligning.scoring import Scoring
from pairhmm.backends import cpu

LEVELS = [name for name, runs in cpu.levels() if runs]

if not LEVELS:
    pytest.skip("the compiled part is not installed", allow_module_level=True)


@pytest.fixture(scope="module", params=LEVELS)
def aligner(request):
    return aligning_cpu.CpuAligner(request.param)


def related(rng, any_pairs, count, length, errors, letters=4):
    """Queries of about that length, and targets that differ from them."""
    queries = [rng.integers(0, letters, length) for _ in range(count)]
    targets = [any_pairs.with_errors(rng, query, letters, errors) for query in queries]
    return SequencePairs.in_order(
        *(Sequences.of([np.asarray(codes, dtype=np.uint8) for codes in side]) for side in (queries, targets))
    )


@pytest.mark.parametrize("form", ["edit", "linear", "affine", "extreme"])
def test_random_pairs(any_pairs, aligner, form):
    for pairs, scoring in any_pairs.any_batches(seed=7, pairs=600, form=form):
        any_pairs.check(aligner, pairs, scoring)


@pytest.mark.parametrize("mode", ["global", "semi-global"])
@pytest.mark.parametrize(("length", "errors"), [(700, 0.0), (900, 0.02), (1500, 0.1), (1200, 0.9)])
def test_bands_of_edit_distances(any_pairs, aligner, length, errors, mode):
    """Distances below the first band, in a later one, and above all of them, beside one another."""
    rng = np.random.default_rng(length)
    pairs = related(rng, any_pairs, 12, length, errors)
    shifted = np.roll(pairs.target_index, 1)
    mixed = SequencePairs(pairs.queries, pairs.targets, pairs.query_index, np.where(shifted % 4, shifted, 0))
    for each in (pairs, mixed):
        any_pairs.check(aligner, each, Scoring(0, -1, -1, -1, mode))
