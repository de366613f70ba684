"""The oracle against a plain loop in float64, dtaidistance, and what is worked out by hand."""

import importlib.util

import numpy as np
import pytest

from pairhmm.errors import OptionError
from pairhmm.warp import reference
from pairhmm.warp.base import NO_PATH, SignalPairs, Signals, WarpOptions
from tests.warp import any_signals

GLOBAL, SUBSEQUENCE = WarpOptions("global"), WarpOptions("subsequence")


def plain(query, target, options):
    """The recurrence in float64, cell by cell; a cell holds the cost of the cheapest path and its last start."""
    if len(query) == len(target) == 0:
        return 0, 0, 0
    cells = {}
    for i, j in np.ndindex(len(query), len(target)):
        if options.band is not None and abs(i - j) > options.band:
            continue
        came = [cells[at] for at in ((i - 1, j), (i, j - 1), (i - 1, j - 1)) if at in cells]
        if i == 0 and (options.mode == "subsequence" or j == 0):
            came.append((0.0, -j))
        if came:
            cost, start = min(came)
            cells[i, j] = (cost + abs(float(query[i]) - float(target[j])), start)
    ends = range(len(target)) if options.mode == "subsequence" else [len(target) - 1]
    found = [(cells[len(query) - 1, j][0], j) for j in ends if (len(query) - 1, j) in cells]
    if not found:
        return NO_PATH, 0, 0
    cost, end = min(found)
    return int(cost), -cells[len(query) - 1, end][1], end + 1


@pytest.mark.parametrize("seed", range(60))
def test_a_plain_loop(seed):
    rng = np.random.default_rng(seed)
    options = any_signals.random_options(rng)
    for _ in range(5):
        query, target = any_signals.random_pair(rng, 40)
        assert reference.warping(query, target, options) == plain(query, target, options)


@pytest.mark.parametrize(
    ("options", "query", "target", "expected"),
    [
        (GLOBAL, [], [], (0, 0, 0)),
        (SUBSEQUENCE, [], [], (0, 0, 0)),
        (GLOBAL, [1], [], (NO_PATH, 0, 0)),
        (SUBSEQUENCE, [], [1], (NO_PATH, 0, 0)),
        (GLOBAL, [1, 5, 9], [1, 1, 5, 5, 9], (0, 0, 5)),
        (GLOBAL, [1, 5], [2, 5, 7], (1 + 0 + 2, 0, 3)),
        (GLOBAL, [-32768] * 3, [32767] * 2, (3 * 65535, 0, 2)),
        (WarpOptions(band=1), [1, 2, 3], [1, 2, 3, 3], (0, 0, 4)),
        (WarpOptions(band=1), [1, 2], [1, 2, 2, 2], (NO_PATH, 0, 0)),
        (WarpOptions(band=0), [1, 1, 5], [1, 5, 5], (4, 0, 3)),
        (SUBSEQUENCE, [3, 4], [9, 3, 4, 9, 3, 4], (0, 1, 3)),  # the first end
        (SUBSEQUENCE, [3, 4], [3, 3, 4], (0, 1, 3)),  # the last start
        (SUBSEQUENCE, [3, 3, 4, 4], [9, 3, 4, 4], (0, 1, 3)),
        (SUBSEQUENCE, [5], [9, 4, 6], (1, 1, 2)),
    ],
)
def test_by_hand(options, query, target, expected):
    assert reference.warping(np.array(query, np.int16), np.array(target, np.int16), options) == expected
    assert plain(np.array(query, np.int16), np.array(target, np.int16), options) == expected


def test_dtaidistance_agrees(require):
    require("dtaidistance", importlib.util.find_spec("dtaidistance") is not None, "dtaidistance is not installed")
    from dtaidistance import dtw

    rng = np.random.default_rng(7)
    for _ in range(60):
        query, target = any_signals.random_pair(rng, 60)
        if len(query) == 0 or len(target) == 0:
            continue
        both = query.astype(float), target.astype(float)
        costs = [reference.warping(query, target, options)[0] for options in (GLOBAL, SUBSEQUENCE)]
        # `psi` is how many levels a path may leave out: at the query's begin and end, and at the target's.
        assert dtw.distance(*both, inner_dist="euclidean") == costs[0]
        assert dtw.distance(*both, inner_dist="euclidean", psi=(0, 0, len(target), len(target))) == costs[1]
        equal = np.resize(target, len(query))
        for band in (0, 2, 9):  # its window counts from 1
            cost = reference.warping(query, equal, WarpOptions(band=band))[0]
            assert dtw.distance(both[0], equal.astype(float), inner_dist="euclidean", window=band + 1) == cost


def test_pairs_share_signals():
    queries, targets = (Signals.of([np.array(one, np.int16) for one in given]) for given in ([[1], [2, 3]], [[3], [2]]))
    index = (np.array(one, np.int32) for one in ([1, 0, 1], [0, 0, 1]))
    pairs = SignalPairs(queries, targets, *index)
    assert reference.make().warpings(pairs, GLOBAL, 1).costs.tolist() == [1, 2, 1]
    assert len(reference.make().warpings(pairs.part(0, 0), GLOBAL, 1).costs) == 0


def test_a_band_is_for_the_global_mode():
    with pytest.raises(OptionError, match=r"band=3 .*global"):
        WarpOptions("subsequence", 3)
