"""Pairs of any signals: what the tests of all warpers draw from."""

import pickle

import numpy as np

from pairhmm.warp import reference
from pairhmm.warp.base import NO_PATH, SignalPairs, Signals, Warpings, WarpOptions

LEAST, MOST = -(2**15), 2**15 - 1
KINDS = ("noise", "extreme", "few", "steps", "constant")
BANDS = (None, None, 0, 1, 3, 17, 100, 1000)


def random_signal(rng, length, kind):
    """Levels int16[length]: white noise, the two extremes, few values (ties), steps with dwell times, or one value."""
    if kind == "noise":
        scale = int(rng.choice([3, 500, MOST]))
        return rng.integers(-scale, scale + 1, length).astype(np.int16)
    if kind == "extreme":
        return rng.choice([LEAST, MOST], length).astype(np.int16)
    if kind == "few":
        return rng.integers(0, 3, length).astype(np.int16)
    if kind == "constant":
        return np.full(length, rng.integers(LEAST, MOST + 1), dtype=np.int16)
    levels = rng.integers(-2000, 2001, length + 1)
    return np.repeat(levels, rng.integers(1, 12, length + 1))[:length].astype(np.int16)


def warped_piece(rng, target, length):
    """A query of a target, int16[length]: a piece of it with dwell times and noise of its own."""
    begin = int(rng.integers(0, len(target)))
    piece = np.repeat(target[begin:], rng.integers(0, 4, len(target) - begin))
    noise = rng.integers(-20, 21, length)
    return np.clip(np.resize(piece if len(piece) else target, length) + noise, LEAST, MOST).astype(np.int16)


def random_length(rng, longest):
    """0 or 1 now and then; else log-uniform."""
    return int(rng.choice([0, 1])) if rng.random() < 0.05 else round(np.exp(rng.uniform(0, np.log(longest))))


def random_pair(rng, longest=400, longest_target=None):
    """A query and a target of any kind, lengths and relation."""
    size = random_length(rng, longest_target or longest)
    target = random_signal(rng, size, rng.choice(KINDS))
    size = random_length(rng, longest)
    if rng.random() < 0.3:
        size = max(0, min(longest, len(target) + int(rng.integers(-4, 5))))
    if rng.random() < 0.5 and len(target):
        return warped_piece(rng, target, size), target
    return random_signal(rng, size, rng.choice(KINDS)), target


def random_pairs(rng, count, longest=400, longest_target=None):
    """`count` pairs of at most `longest` levels, targets of at most `longest_target`. Some signals repeat."""
    both = [random_pair(rng, longest, longest_target) for _ in range(max(1, count * 4 // 5))]
    queries, targets = (Signals.of(signals) for signals in zip(*both, strict=True))
    query, target = (np.resize(np.arange(len(both)), count).astype(np.int32) for _ in range(2))
    target[len(both) :] = rng.integers(0, len(both), count - len(both))
    return SignalPairs(queries, targets, query, target)


def random_options(rng):
    if rng.random() < 0.5:
        return WarpOptions("subsequence")
    band = rng.choice(np.array(BANDS, dtype=object))
    return WarpOptions("global", band)


def pair_of(query, target):
    """One pair of two signals."""
    index = np.zeros(1, dtype=np.int32)
    return SignalPairs(Signals.of([np.array(query, np.int16)]), Signals.of([np.array(target, np.int16)]), index, index)


_known: dict[bytes, Warpings] = {}


def oracle(pairs, options):
    """What `reference` makes of pairs, once for all warpers."""
    key = pickle.dumps((pairs, options))
    if key not in _known:
        _known[key] = reference.make().warpings(pairs, options, 1)
    return _known[key]


def check(warper, pairs, options, threads=1):
    """A warper's costs and places are the oracle's; the first pairs that differ are shown."""
    expected = oracle(pairs, options)
    found = warper.warpings(pairs, options, threads)
    assert (found.costs.dtype, found.starts.dtype, found.ends.dtype) == (np.int64, np.int32, np.int32)
    answers = [np.stack([one.costs, one.starts, one.ends], axis=1) for one in (found, expected)]
    assert answers[0].shape == answers[1].shape
    wrong = np.flatnonzero((answers[0] != answers[1]).any(axis=1)).tolist()
    lines = [
        f"pair {k}, {pairs.queries.lengths[pairs.query_index[k]]} on {pairs.targets.lengths[pairs.target_index[k]]} "
        f"levels, {options}: {answers[0][k].tolist()}, oracle {answers[1][k].tolist()}"
        for k in wrong[:8]
    ]
    assert not wrong, "\n".join([f"{len(wrong)} of {len(pairs)} warpings differ", *lines])


def check_edges(warper):
    """No pairs; a band, and an empty signal, that leave no path."""
    none = SignalPairs.in_order(Signals.of([]), Signals.of([]))
    assert len(warper.warpings(none, WarpOptions("subsequence"), 2).costs) == 0
    for options, query, target in (
        (WarpOptions(band=2), [1, 2], [1] * 5),
        (WarpOptions(), [], [1]),
        (WarpOptions("subsequence"), [], [1]),
    ):
        found = warper.warpings(pair_of(query, target), options, 1)
        assert (found.costs[0], found.starts[0], found.ends[0]) == (NO_PATH, 0, 0)
