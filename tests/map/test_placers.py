"""Every placer against the oracle: the same bits of signatures, and positions within the bounds of the protocol."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm import backends
from pairhmm.map.cpu import CpuPlacer
from pairhmm.map.reference import ReferencePlacer, blend, projection
from pairhmm.map.sketch.cpu import levels

ORACLE = ReferencePlacer()
pytestmark = pytest.mark.skipif(not backends.status("cpu").available, reason="needs the compiled part")


@pytest.fixture(params=[name for name, runs in levels() if runs])
def placer(request):
    return CpuPlacer(request.param)


@pytest.mark.parametrize("most", [0, 11, 30, 2000])
@pytest.mark.parametrize("threads", [1, 3])
def test_signatures_have_the_oracle_s_bits(placer, any_samples, most, threads):
    tokens = any_samples.any_tokens(np.random.default_rng(most), 300, most)
    assert (placer.signatures(tokens, threads) == ORACLE.signatures(tokens, 1)).all()


def test_tokens_at_the_ends_of_their_range(placer, any_samples):
    ends = [0, 1, 2**31 - 3, 2**31 - 2]
    tokens = any_samples.token_sets([ends[:1], ends[3:], ends, ends + list(range(2**30, 2**30 + 20))])
    assert (placer.signatures(tokens, 1) == ORACLE.signatures(tokens, 1)).all()


@pytest.mark.parametrize("pool", [5, 100, 2**31 - 1])
def test_projections(placer, any_samples, pool):
    random = np.random.default_rng(pool)
    groups = [any_samples.any_tokens(random, 2500, most, pool) for most in (3, 11, 60)]
    matrices = any_samples.any_matrices(random, 3)
    found = placer.projections(groups, matrices, 2)
    for group, matrix, positions in zip(groups, matrices, found, strict=True):
        assert np.abs(positions - projection(ORACLE.signatures(group, 1), matrix)).max() <= 1e-4
    assert (found == placer.projections(groups, matrices, 1)).all()


def test_samples_that_are_all_alike_are_at_0(placer, any_samples):
    tokens = any_samples.token_sets([[4, 5, 6]] * 9 + [[]])
    assert not placer.projections([tokens], any_samples.any_matrices(np.random.default_rng(1), 1), 1).any()


def test_blending(placer, any_samples):
    random = np.random.default_rng(2)
    start = (5 * random.standard_normal((3000, 2))).astype(np.float32)
    neighbours = any_samples.any_neighbours(random, 3000, 12)
    for passes in (0, 1, 5):
        found = placer.blended(start, neighbours, 0.6, passes, 2)
        assert np.abs(found - blend(start, neighbours, 0.6, passes)).max() <= 1e-5


def test_no_samples_and_no_groups(placer, any_samples):
    none = any_samples.token_sets([])
    assert placer.signatures(none, 1).shape == (0, 128)
    assert placer.projections([none], any_samples.any_matrices(np.random.default_rng(1), 1), 1).shape == (1, 0, 2)
    assert placer.projections([], np.empty((0, 128, 2), np.float32), 1).shape == (0, 0, 2)
