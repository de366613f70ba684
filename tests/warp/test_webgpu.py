"""The webgpu warper gives the costs and places of the oracle, in floats and in integers, and however work is cut."""

import logging

import numpy as np
import pytest

from pairhmm.backends.webgpu import pair_kernels
from pairhmm.errors import OutOfDeviceMemory
from pairhmm.warp import webgpu
from pairhmm.warp.base import WARPERS, WarpOptions
from pairhmm.warp.webgpu import LARGEST
from tests.warp import any_signals

SUBSEQUENCE = WarpOptions("subsequence")
ALL_OPTIONS = [WarpOptions(), WarpOptions(band=9), WarpOptions(band=40), SUBSEQUENCE]


@pytest.fixture(scope="module")
def warper(require_backend):
    require_backend("webgpu")
    return WARPERS.load("webgpu")


@pytest.mark.parametrize("seed", range(30))
def test_random_pairs(warper, seed):
    rng = np.random.default_rng(seed)
    any_signals.check(warper, any_signals.random_pairs(rng, 20, 200), any_signals.random_options(rng))


@pytest.mark.parametrize("seed", range(3))
def test_short_queries_on_long_targets(warper, seed):
    rng = np.random.default_rng(seed)
    any_signals.check(warper, any_signals.random_pairs(rng, 6, 260, 5_000), SUBSEQUENCE)


@pytest.mark.parametrize("options", ALL_OPTIONS)
def test_wide_lanes(warper, monkeypatch, options):
    monkeypatch.setitem(LARGEST, False, 0)
    rng = np.random.default_rng(5)
    any_signals.check(warper, any_signals.random_pairs(rng, 60, 150), options)


@pytest.mark.parametrize("options", ALL_OPTIONS)
def test_costs_at_the_limit_of_floats(warper, options):
    for extra in range(-2, 3):
        query = np.zeros(1024, np.int16)
        target = np.full(1024, 16384, np.int16)
        target[0] += extra
        any_signals.check(warper, any_signals.pair_of(query, target), options)


@pytest.mark.parametrize("options", [WarpOptions(), SUBSEQUENCE])
def test_costs_beyond_31_bits(warper, caplog, options):
    warper = type(warper)(0)
    pair = any_signals.pair_of(np.full(66_000, any_signals.LEAST), np.full(40, any_signals.MOST))
    found = warper.warpings(pair, options, 1)
    assert (found.costs[0], found.starts[0]) == (66_000 * 65_535, 0)
    assert "webgpu:0: no kernel for costs beyond 31 bits" in caplog.text


@pytest.mark.parametrize("options", ALL_OPTIONS)
def test_work_in_small_parts(warper, monkeypatch, options):
    """Dispatches of a few pairs, of one strip each, and borders that leave room for few pairs."""
    monkeypatch.setattr(pair_kernels, "FULL", 3)
    monkeypatch.setattr(webgpu, "MOST_CELLS", 20_000 * warper._shared.slower)
    monkeypatch.setattr(pair_kernels, "MOST_BORDER", 4_000)
    any_signals.check(warper, any_signals.random_pairs(np.random.default_rng(8), 60, 300), options)


def test_out_of_memory(warper, monkeypatch, caplog):
    """Half the pairs at once, until they fit; one pair that does not fit is the CPU's."""
    warper = type(warper)(0)
    whole = warper._warpings

    def few(pairs, options, threads):
        if len(pairs) > 3 or 7 in pairs.query_index:
            raise OutOfDeviceMemory("made")
        return whole(pairs, options, threads)

    monkeypatch.setattr(warper, "_warpings", few)
    with caplog.at_level(logging.WARNING):
        any_signals.check(warper, any_signals.random_pairs(np.random.default_rng(9), 20, 60), SUBSEQUENCE)
    assert "webgpu:0: out of memory; 10 pairs at once now" in caplog.text
    assert caplog.text.count("no kernel for pairs of this size") == 1


def test_no_pairs_and_no_path(warper):
    any_signals.check_edges(warper)
