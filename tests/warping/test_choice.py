from __future__ import annotations

import logging

import numpy as np
import pytest

from pairhmm import backends, warping
from pairhmm.backends.base import Status
from pairhmm.engine import pair_pool
from pairhmm.errors import BackendUnavailable, DeviceLost, InputError, OutOfDeviceMemory
from pairhmm.warping import choice, reference
from pairhmm.warping.batch import WarpOptions
from pairhmm.warping.choice import choose
from pairhmm.warping.pool import WarperPool


class Failing(warping.Warper):
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
    monkeypatch.setattr(pair_pool, "LEAST_CELLS", 0)
    pairs = any_signals.random_pairs(np.random.default_rng(1), 30, 50)
    shared = WarperPool([Failing(*one) for one in devices], reference.make)
    with caplog.at_level(logging.WARNING):
        any_signals.check(shared, pairs, WarpOptions())
        any_signals.check(shared, pairs, WarpOptions("subsequence"))
    for message in told:
        assert message in caplog.text
    assert bool(told) == bool(caplog.text)


def test_a_device_is_named_once():
    with pytest.raises(InputError, match="--device: 1,1: a device is named twice"):
        choose("auto", (1, 1), 1, 1)


def test_auto_keeps_small_work_on_the_cpu():
    assert choose("auto", None, 1000, 1).label.startswith("cpu")


def test_auto_says_what_a_device_lacks(monkeypatch, caplog):
    monkeypatch.setattr(backends, "on_devices", lambda: ("cuda",))
    monkeypatch.setattr(warping, "names", lambda: ("cuda", "cpu", "reference"))
    real = backends.status
    lacks = Status(False, reason="no GPU", cure="get one")
    monkeypatch.setattr(backends, "status", lambda name: lacks if name == "cuda" else real(name))
    with caplog.at_level(logging.INFO):
        assert choose("auto", None, 10**15, 1).label.startswith("cpu")
    assert "not cuda: no GPU; get one" in caplog.messages


def test_the_oracle_is_announced(monkeypatch, caplog):
    real = backends.status
    lacks = Status(False, reason="not compiled", cure="install g++")
    monkeypatch.setattr(backends, "status", lambda name: lacks if name == "cpu" else real(name))
    with caplog.at_level(logging.WARNING):
        assert choose("auto", None, 1, 1).label == "reference"
    assert caplog.messages == ["backend reference, which is slow (cpu: not compiled; install g++)"]


def test_names_that_do_not_warp():
    with pytest.raises(BackendUnavailable, match="does not warp"):
        choose("abacus", None, 1, 1)


def test_every_warper_has_a_backend():
    assert set(warping.names()) <= set(backends.names())
    assert choice.WORTH_A_DEVICE > 0
