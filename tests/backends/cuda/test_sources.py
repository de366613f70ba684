"""Numbers that Python and the CUDA kernels share are written in Python alone, and handed to the kernels."""

import re

import numpy as np
import pytest

from pairhmm.backends.cuda import kernels
from pairhmm.backends.cuda.kernels import QUALITIES, KernelVariant
from pairhmm.backends.tiles import Shape
from pairhmm.models import scaling


def test_numbers_keep_their_bits():
    text = kernels.forward_source(KernelVariant(Shape(8, 16), QUALITIES, 0.1))
    macros = dict(re.findall(r"^#define (\w+) (\S+)$", text, re.M))
    assert float.fromhex(macros["LEAST_SUM"]) == scaling.LEAST_SUM
    assert float.fromhex(macros["LEAST_OPENING"]) == scaling.LEAST_OPENING
    assert np.float32(float.fromhex(macros["EXTEND_DELETION"])) == np.float32(0.1)


@pytest.mark.parametrize("change", ["order", "size"])
def test_a_struct_that_differs_does_not_compile(change, monkeypatch, emulator):
    fields = [(name, kernels.HEADER[name]) for name in kernels.HEADER.names]
    wrong = [fields[1], fields[0], *fields[2:]] if change == "order" else [*fields, ("more", "<i8")]
    monkeypatch.setitem(kernels.STRUCTS, "Header", np.dtype(wrong))
    text = kernels.forward_source(KernelVariant(Shape(8, 16), QUALITIES, None))
    with pytest.raises(emulator.EmulationError, match="Header is not what Python fills"):
        emulator.Emulated([text])
