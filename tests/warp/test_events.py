"""Events of signals whose steps are known, and the part of a read that is warped."""

import numpy as np
import pytest

from pairhmm.errors import OptionError
from pairhmm.warp.cutting import CutOptions
from pairhmm.warp.events import event_ends, event_means


def stepped(rng, levels, noise, stays=(4, 20)):
    stay = rng.integers(*stays, len(levels))
    return np.repeat(levels, stay) + rng.normal(0, noise, int(stay.sum())), np.cumsum(stay)


def test_steps_are_found():
    rng = np.random.default_rng(1)
    levels = np.where(np.arange(300) % 2, 80, 100) + rng.uniform(-5, 5, 300)
    samples, ends = stepped(rng, levels, 1.0)
    found = event_ends(samples)
    assert found[-1] == len(samples)
    near = np.abs(found[:, None] - ends[None, :]).min(axis=0)
    assert (near <= 1).mean() > 0.98
    assert len(found) < 1.1 * len(ends)


def test_means_are_those_of_the_samples_between_ends():
    samples = np.array([1.0, 3.0, 10.0, 20.0, 30.0])
    assert event_means(samples, np.array([2, 5])).tolist() == [2.0, 20.0]
    assert event_means(samples[:0], np.zeros(0, np.int64)).tolist() == []


def test_noise_alone_makes_few_events():
    samples = np.random.default_rng(2).normal(90, 2, 2000)
    assert len(event_ends(samples)) < 2000 / 9


def test_gain_and_shift_change_no_event():
    rng = np.random.default_rng(3)
    samples, _ = stepped(rng, rng.normal(90, 12, 200), 1.5)
    assert event_ends(samples).tolist() == event_ends(samples * 4 - 100).tolist()


def test_signals_without_steps():
    assert event_ends(np.zeros(0)).tolist() == []
    for length in (1, 2, 5, 12, 100):
        assert event_ends(np.full(length, 7.0)).tolist() == [length]


def test_events_of_clean_steps():
    samples = np.repeat([1.0, 5.0, 2.0, 9.0], [10, 7, 30, 8])
    assert event_ends(samples).tolist() == [10, 17, 47, 55]


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
