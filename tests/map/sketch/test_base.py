""" "auto" takes a GPU for much work only, and says what it took."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import pairhmm
from pairhmm import backends
from pairhmm.backends.base import Status
from pairhmm.map.sketch.base import COMPARERS
from pairhmm.map.sketch.reference import ReferenceComparer
from pairhmm.map.sketch.sketches import Scheme


@pytest.fixture
def taken(monkeypatch):
    """The names of the comparers that are loaded, where every backend is there."""
    names = []

    def load(name, device=None):
        names.append(name if device is None else f"{name}:{device}")
        return ReferenceComparer()

    monkeypatch.setattr(backends, "status", lambda name: Status(True, devices=("a GPU", "another")))
    monkeypatch.setattr(COMPARERS, "load", load)
    return names


def test_the_command_asks_for_a_gpu_when_words_are_many(taken, make_sketches, monkeypatch, caplog):
    """4,950 pairs of 1,024 x 8, which have 128 words each."""
    some = make_sketches(np.random.default_rng(0), 100, Scheme())
    with caplog.at_level(logging.INFO, "pairhmm"):
        for worth in (4950 * 64, 4950 * 64 + 1):
            monkeypatch.setattr("pairhmm.map.sketch.distances.WORTH_A_DEVICE", worth)
            pairhmm.distances(some, threads=2)
    assert taken == ["cuda", "cpu"]
    assert "backend reference" in caplog.text
