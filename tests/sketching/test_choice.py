""" "auto" takes a GPU for much work only, and says what it took."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import pairhmm
from pairhmm import backends
from pairhmm.backends.base import Status
from pairhmm.errors import InputError
from pairhmm.sketching import choice
from pairhmm.sketching.reference import ReferenceComparer
from pairhmm.sketching.sketches import Scheme


@pytest.fixture
def taken(monkeypatch):
    """The names of the comparers that are loaded, where every backend is there."""
    names = []

    def load(name, device=None):
        names.append(name if device is None else f"{name}:{device}")
        return ReferenceComparer()

    monkeypatch.setattr(backends, "status", lambda name: Status(True, devices=("a GPU", "another")))
    monkeypatch.setattr("pairhmm.sketching.load", load)
    return names


def test_auto_takes_a_gpu_for_much_work(taken):
    for backend, devices, much in (("auto", None, True), ("auto", None, False), ("auto", (1,), False)):
        choice.choose(backend, devices, much)
    assert taken == ["cuda", "cpu", "cuda:1"]


def test_a_named_backend_is_taken(taken):
    choice.choose("webgpu", None, False)
    assert taken == ["webgpu"]


def test_several_devices():
    with pytest.raises(InputError, match="one device compares sketches"):
        choice.choose("cuda", (0, 1), True)


def test_the_command_asks_for_a_gpu_when_words_are_many(taken, make_sketches, monkeypatch, caplog):
    """4,950 pairs of 1,024 x 8, which have 128 words each."""
    some = make_sketches(np.random.default_rng(0), 100, Scheme())
    with caplog.at_level(logging.INFO, "pairhmm"):
        for worth in (4950 * 64, 4950 * 64 + 1):
            monkeypatch.setattr("pairhmm.commands.map_distances.WORTH_A_DEVICE", worth)
            pairhmm.distances(some, threads=2)
    assert taken == ["cuda", "cpu"]
    assert "backend reference" in caplog.text
