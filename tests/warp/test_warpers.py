"""Every warper gives the costs and places of the oracle."""

import numpy as np
import pytest

from pairhmm.backends import cpu
from pairhmm.warp.base import NO_PATH, WARPERS, SignalPairs, WarpOptions
from pairhmm.warp.cpu import CpuWarper
from tests.warp import any_signals

LEVELS = [name for name, runs in cpu.instruction_sets() if runs]
SUBSEQUENCE = WarpOptions("subsequence")


@pytest.fixture(scope="module", params=LEVELS)
def warper(request):
    return CpuWarper(request.param)


@pytest.mark.parametrize("seed", range(30))
def test_random_pairs(warper, seed):
    rng = np.random.default_rng(seed)
    any_signals.check(warper, any_signals.random_pairs(rng, 20, 200), any_signals.random_options(rng))


@pytest.mark.parametrize("seed", range(4))
def test_short_queries_on_long_targets(warper, seed):
    rng = np.random.default_rng(seed)
    any_signals.check(warper, any_signals.random_pairs(rng, 6, 260, 12_000), SUBSEQUENCE, threads=2)


@pytest.mark.parametrize("options", [WarpOptions(), WarpOptions(band=40), SUBSEQUENCE])
def test_costs_at_the_edges_of_sixteen_bits(warper, options):
    """Costs of 65,533 to 65,537: 16 bits hold those below 65,535."""
    for extra in range(-2, 3):
        query = np.zeros(33, np.int16)
        target = np.full(33, 1985, np.int16)
        target[:30] += 1
        target[0] += extra
        any_signals.check(warper, any_signals.pair_of(query, target), options)


@pytest.mark.parametrize("mode", ["global", "subsequence"])
def test_costs_beyond_32_bits(warper, mode):
    """The cheapest path of two signals as far apart as levels can be has a cell for each level of the longer one."""
    count = 66_000
    pair = any_signals.pair_of(np.full(count, any_signals.LEAST), np.full(40, any_signals.MOST))
    found = warper.warpings(pair, WarpOptions(mode), 1)
    assert (found.costs[0], found.starts[0], found.ends[0]) == (count * 65_535, 0, 40 if mode == "global" else 1)
    assert found.costs[0] > 2**32


def test_a_match_behind_a_long_stretch_of_high_costs(warper):
    rng = np.random.default_rng(3)
    query = rng.integers(-30_000, 30_000, 100)
    target = np.concatenate([np.full(15_000, any_signals.MOST), query, np.full(300, any_signals.LEAST)])
    found = warper.warpings(any_signals.pair_of(query, target), SUBSEQUENCE, 1)
    assert (found.costs[0], found.starts[0], found.ends[0]) == (0, 15_000, 15_100)


def test_threads_change_nothing(warper):
    pairs = any_signals.random_pairs(np.random.default_rng(5), 60, 300, 9_000)
    one, four = (warper.warpings(pairs, SUBSEQUENCE, threads) for threads in (1, 4))
    for name in ("costs", "starts", "ends"):
        assert np.array_equal(getattr(one, name), getattr(four, name))


def test_no_pairs_and_no_path(warper):
    any_signals.check_edges(warper)


def test_the_pairs_meet_what_they_are_for():
    """Among the random pairs are ties, costs beyond 16 bits, bands without a path, and paths that start late."""
    rng = np.random.default_rng(11)
    oracle = WARPERS.load("reference")
    found = [
        (options, oracle.warpings(any_signals.random_pairs(rng, 20, 120), options, 1))
        for options in (any_signals.random_options(rng) for _ in range(20))
    ]
    costs = np.concatenate([one.costs for _, one in found])
    assert (costs == 0).any() and (costs == NO_PATH).any()
    assert ((costs > 2**16) & (costs < NO_PATH)).sum() > 50
    assert ((costs > 0) & (costs < 2**16)).sum() > 50
    assert any((one.starts > 0).any() for options, one in found if options.mode == "subsequence")
    assert isinstance(any_signals.random_pairs(rng, 3), SignalPairs)
