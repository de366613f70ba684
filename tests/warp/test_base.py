from __future__ import annotations

import logging

import numpy as np
import pytest

from pairhmm.engine import pair_pool
from pairhmm.errors import DeviceLost, OutOfDeviceMemory
from pairhmm.warp import reference
from pairhmm.warp.base import Warper, WarperPool, choose
from pairhmm.warp.batch import WarpOptions


class Failing(Warper):
    """The oracle on a device: out of memory above so many pairs, and lost after so many calls."""

    def __init__(self, label, most=10**9, calls=10**9):
        self.label, self.most, self.calls = label, most, calls
        self.oracle = reference.make()

    def warpings(self, pairs, options, threads):
        if self.calls == 0:
            raise DeviceLost(self.label, "it fell off the bus")
        self.calls -= 1
        if len(pairs) > self.most:
            raise OutOfDeviceMemory(f"{self.label}: out of memory")
        return self.oracle.warpings(pairs, options, threads)


@pytest.mark.parametrize(
    ("devices", "told"),
    [
        ([("a",), ("b",)], []),
        ([("a", 3)], ["a: out of memory; "]),
        ([("a", 0)], ["a: out of memory for one pair, which reference takes"]),
        ([("a", 10**9, 0)], ["a: lost (it fell off the bus); reference goes on"]),
        ([("a", 10**9, 1), ("b",)], ["a: lost (it fell off the bus); b goes on"]),
    ],
)
def test_devices_share_pairs_and_may_fail(any_signals, monkeypatch, caplog, devices, told):
    monkeypatch.setattr(pair_pool, "CHUNK_CELLS", 5_000)
    monkeypatch.setattr(pair_pool, "MIN_SHARED_CELLS", 0)
    pairs = any_signals.random_pairs(np.random.default_rng(1), 30, 50)
    shared = WarperPool([Failing(*one) for one in devices], reference.make)
    with caplog.at_level(logging.WARNING):
        any_signals.check(shared, pairs, WarpOptions())
        any_signals.check(shared, pairs, WarpOptions("subsequence"))
    for message in told:
        assert message in caplog.text
    assert bool(told) == bool(caplog.text)


def test_auto_keeps_small_work_on_the_cpu():
    assert choose("auto", None, 1000, 1).label.startswith("cpu")
