import threading

import numpy as np

from pairhmm.engine import pair_pool
from pairhmm.errors import DeviceLost, OutOfDeviceMemory
from pairhmm.warp import reference
from pairhmm.warp.base import Warper, WarperPool, WarpOptions, choose
from tests.warp import any_signals


class Failing(Warper):
    """The oracle on a device: out of memory above so many pairs, and lost after so many calls.

    It works once `other` was called, too.
    """

    def __init__(self, label, most=10**9, calls=10**9, other=None):
        self.label, self.most, self.calls, self.other = label, most, calls, other
        self.oracle, self.called = reference.make(), threading.Event()

    def warpings(self, pairs, options, threads):
        self.called.set()
        assert self.other is None or self.other.called.wait(60)
        if self.calls == 0:
            raise DeviceLost(self.label, "it fell off the bus")
        self.calls -= 1
        if len(pairs) > self.most:
            raise OutOfDeviceMemory(f"{self.label}: out of memory")
        return self.oracle.warpings(pairs, options, threads)


def test_devices_share_pairs_and_may_fail(monkeypatch, caplog):
    """As those that align: tests/align/test_base.py has every way to fail."""
    monkeypatch.setattr(pair_pool, "CHUNK_CELLS", 5_000)
    monkeypatch.setattr(pair_pool, "MIN_SHARED_CELLS", 0)
    pairs = any_signals.random_pairs(np.random.default_rng(1), 30, 50)
    lost = Failing("b", calls=0)
    shared = WarperPool([Failing("a", 3, other=lost), lost], reference.make)
    for options in (WarpOptions(), WarpOptions("subsequence")):
        any_signals.check(shared, pairs, options)
    assert "a: out of memory; " in caplog.text and "b: lost (it fell off the bus); a goes on" in caplog.text


def test_auto_keeps_small_work_on_the_cpu():
    assert choose("auto", None, 1000, 1).label.startswith("cpu")
