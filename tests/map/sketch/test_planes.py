"""Slots become bit planes and slots again."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm.map.sketch.sketches import planes_of, values_of


@pytest.mark.parametrize("bits", [1, 8, 16, 31])
@pytest.mark.parametrize("slots", [128, 1024])
def test_slots_come_back(bits, slots):
    values = np.random.default_rng(bits).integers(0, 2**31, (5, slots), dtype=np.uint32)
    planes = planes_of(values, bits)
    assert planes.shape == (5, bits, slots // 64) and planes.dtype == np.uint64
    assert (values_of(planes) == values & np.uint32(2**bits - 1)).all()


def test_a_bit_stands_where_the_layout_says():
    values = np.zeros((1, 128), dtype=np.uint32)
    values[0, 67] = 0b100
    planes = planes_of(values, 3)
    assert planes[0, 2].tolist() == [0, 8]
    assert not planes[0, :2].any()
