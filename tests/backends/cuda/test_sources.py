"""Numbers that Python and the CUDA kernels share are written in Python alone, and handed to the kernels."""

import dataclasses
import re

import numpy as np
import pytest

from pairhmm.backends.cuda import kernels
from pairhmm.backends.cuda.kernels import QUALITIES, KernelVariant
from pairhmm.backends.tiles import Shape
from pairhmm.models import scaling
from pairhmm.models.batch import FLOAT32, SCALED_FLOAT32
from pairhmm.models.profile import STARTS


def test_numbers_keep_their_bits():
    text = kernels.forward_source(KernelVariant(Shape(8, 16), QUALITIES, 0.1))
    macros = dict(re.findall(r"^#define (\w+) (\S+)$", text, re.M))
    assert float.fromhex(macros["LEAST_SUM"]) == scaling.LEAST_SUM
    assert float.fromhex(macros["LEAST_OPENING"]) == scaling.LEAST_OPENING
    assert np.float32(float.fromhex(macros["EXTEND_DELETION"])) == np.float32(0.1)


@pytest.mark.parametrize(("start", "name"), [("match", "LEAST_SUM"), ("anywhere", "LEAST_JOINED")])
def test_the_least_sum_is_the_hosts(start, name, monkeypatch, emulated, batches):
    """What no sum reaches leaves every pair to the rescue."""
    given = dataclasses.replace(batches.batch(31, (9, 77), each=2), start=STARTS[start])
    assert (emulated().forward(given, np.zeros(given.reads, bool), 1).precision == FLOAT32).any()
    monkeypatch.setattr(scaling, name, 3e38)
    scores = emulated().forward(given, np.zeros(given.reads, bool), 1)
    assert (scores.precision == SCALED_FLOAT32).all()
    batches.check(scores, given)


@pytest.mark.parametrize(
    ("start", "name", "low", "high"),
    [("match", "START_EXPONENT", 90, 128), ("anywhere", "HALF_EXPONENT", 50, 128)],
    ids=["match", "anywhere"],
)
def test_the_start_is_the_hosts(start, name, low, high, monkeypatch, emulated, batches):
    """From a start near float32's end every sum overflows; from a low one, scores are the same."""
    given = dataclasses.replace(batches.batch(32, (9, 77), each=2), start=STARTS[start])
    monkeypatch.setattr(scaling, name, low)
    scores = emulated().forward(given, np.zeros(given.reads, bool), 1)
    assert (scores.precision == FLOAT32).any()
    batches.check(scores, given)
    monkeypatch.setattr(scaling, name, high)
    assert not (emulated().forward(given, np.zeros(given.reads, bool), 1).precision == FLOAT32).any()


@pytest.mark.parametrize("change", ["order", "size"])
def test_a_struct_that_differs_does_not_compile(change, monkeypatch, emulator):
    fields = [(name, kernels.HEADER[name]) for name in kernels.HEADER.names]
    wrong = [fields[1], fields[0], *fields[2:]] if change == "order" else [*fields, ("more", "<i8")]
    monkeypatch.setitem(kernels.STRUCTS, "Header", np.dtype(wrong))
    text = kernels.forward_source(KernelVariant(Shape(8, 16), QUALITIES, None))
    with pytest.raises(emulator.EmulationError, match="Header is not what Python fills"):
        emulator.Emulated([text])
