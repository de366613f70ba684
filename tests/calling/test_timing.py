"""Seconds of stages, each its own."""

from __future__ import annotations

import pytest

from pairhmm.calling.timing import StageClock


class Now:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds

    def wait(self, seconds: float) -> float:
        self.seconds += seconds
        return seconds


def test_a_stage_does_not_count_those_within_it():
    now = Now()
    clock = StageClock(now)

    def score(seconds):
        with clock.stage("scoring"):
            return now.wait(seconds)

    def read():
        for _ in range(2):
            now.wait(1)
            yield score(10)

    now.wait(1000)
    with clock.stage("all"):
        now.wait(0.25)
        for _ in clock.items("reading", read()):
            now.wait(100)
    now.wait(1000)
    assert clock.seconds == {"all": 200.25, "reading": 2, "scoring": 20}


def test_a_stage_that_fails_is_over():
    now = Now()
    clock = StageClock(now)
    with pytest.raises(ZeroDivisionError), clock.stage("inner"):
        now.wait(3)
        raise ZeroDivisionError
    now.wait(5)
    with clock.stage("next"):
        now.wait(7)
    assert clock.seconds == {"inner": 3, "next": 7}
