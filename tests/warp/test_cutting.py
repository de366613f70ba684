from __future__ import annotations

import numpy as np
import pytest

from pairhmm.errors import OptionError
from pairhmm.warp.cutting import CutOptions
from pairhmm.warp.events import event_ends, event_means


def current(length=40_000):
    rng = np.random.default_rng(1)
    return (np.repeat(rng.normal(90, 12, length), 9) + rng.normal(0, 1.5, 9 * length))[:length]


def test_events_are_those_of_the_whole_read():
    """A long read is cut into events only as far as they are wanted: the same ones, but for the spread's estimate."""
    samples = current()
    cut = CutOptions().cut(samples)
    whole = event_means(samples, event_ends(samples))[50:300]
    assert len(cut) == 250
    assert np.isin(np.round(cut, 6), np.round(whole, 6)).mean() > 0.97


def test_slow_stretches_get_more_samples():
    samples = np.repeat(np.random.default_rng(2).normal(90, 12, 100), 400)
    cut = CutOptions("events", 10, 50).cut(samples + np.random.default_rng(3).normal(0, 0.5, len(samples)))
    assert len(cut) == 50


def test_samples():
    assert CutOptions("samples", 3, 4).cut(np.arange(20.0)).tolist() == [3, 4, 5, 6]
    assert CutOptions("samples", 3, 4).cut(np.arange(5.0)).tolist() == [3, 4]
    assert len(CutOptions("samples").cut(current())) == 2500


def test_short_reads():
    assert len(CutOptions().cut(np.zeros(0))) == 0
    assert len(CutOptions().cut(current(90))) == 0
    assert CutOptions().least == 25


@pytest.mark.parametrize(("name", "value"), [("levels", "bases"), ("skip", -1), ("first", 1)])
def test_options_out_of_range(name, value):
    with pytest.raises(OptionError, match=name):
        CutOptions(**{name: value})
