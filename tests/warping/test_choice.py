from __future__ import annotations

import logging

import numpy as np
import pytest

from pairhmm import backends, warping
from pairhmm.backends.base import Status
from pairhmm.errors import BackendUnavailable, DeviceLost, OutOfDeviceMemory
from pairhmm.warping import choice
from pairhmm.warping.batch import WarpOptions
from pairhmm.warping.choice import SteadyWarper, choose


class Failing:
    label = "cuda (0)"

    def __init__(self, error):
        self.error = error

    def warpings(self, pairs, options, threads):
        raise self.error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (DeviceLost("cuda (0)", "it fell off the bus"), "lost (it fell off the bus)"),
        (OutOfDeviceMemory("cuda (0): 1 GB"), "out of memory, however small the chunks"),
    ],
)
def test_a_device_that_fails_leaves_its_work_to_the_cpu(any_signals, caplog, error, reason):
    pairs = any_signals.random_pairs(np.random.default_rng(1), 10, 50)
    warper = SteadyWarper(Failing(error))
    with caplog.at_level(logging.WARNING):
        any_signals.check(warper, pairs, WarpOptions())
        any_signals.check(warper, pairs, WarpOptions("subsequence"))
    assert [record.message for record in caplog.records] == [f"cuda (0): {reason}; the CPU goes on"]
    assert warper.label.startswith("cpu")


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
    assert choose("auto", None, 1, 1).label == "reference"
    assert caplog.messages == ["backend reference, which is slow (cpu: not compiled; install g++)"]


def test_names_that_do_not_warp():
    with pytest.raises(BackendUnavailable, match="does not warp"):
        choose("abacus", None, 1, 1)


def test_every_warper_has_a_backend():
    assert set(warping.names()) <= set(backends.names())
    assert choice.CPU_CELLS_A_SECOND > 0
