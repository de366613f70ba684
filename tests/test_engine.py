"""Choice of backend, chunks and the rescue rule."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from pairhmm import backends, engine
from pairhmm.backends import cpu
from pairhmm.batch import Group, PairBatch, Read
from pairhmm.errors import BackendUnavailable


def small_batch(groups=5):
    read = Read(np.zeros(10, dtype=np.uint8), *(np.full(10, 30, dtype=np.uint8) for _ in range(4)))
    return PairBatch.from_groups([Group([read], [np.zeros(20, dtype=np.uint8)]) for _ in range(groups)])


def test_empty_batch():
    scores = engine.forward(PairBatch.from_groups([]), "reference")
    assert len(scores.log10) == 0


def test_needs_rescue():
    assert engine.needs_rescue(np.array([-1.0, np.nan, -np.inf])).tolist() == [1]


def test_named_backend_never_falls_back(monkeypatch):
    monkeypatch.setenv(cpu.LEVEL_VARIABLE, "none")
    with pytest.raises(BackendUnavailable, match="PAIRHMM_CPU=none"):
        engine.choose("cpu")


def test_auto_announces_its_fallback(monkeypatch, caplog):
    monkeypatch.setattr(cpu, "_native", lambda: None)
    with caplog.at_level(logging.WARNING):
        assert engine.choose("auto").name == "reference"
    assert "not installed" in caplog.text and "compiler" in caplog.text


def test_auto_takes_the_fastest():
    assert engine.choose("auto").name == backends.names()[0]


def test_unknown_backend():
    with pytest.raises(BackendUnavailable, match="no such backend"):
        engine.choose("abacus")
