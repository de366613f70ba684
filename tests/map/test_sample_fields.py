"""Sample columns as arrays, against Python's own splitting."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm.map.genotype_reader import MISSING, SampleFields

COLUMNS = [
    "0/1:7,3:30,0,255",
    "1|1:0,12:99,9,0",
    "./.:.:.",
    "0/0",
    "1:5,1:1,2,3",
    "0/2:1,2,3:.,1,2",
    "0/0::0,1,x",
    "a/b:-1,2:0,0,0",
]


def test_numbers_of_a_field():
    fields = SampleFields("\t".join(COLUMNS).encode())
    assert fields.columns == len(COLUMNS)
    none = [MISSING, MISSING]
    assert fields.numbers(1, 2).tolist() == [[7, 3], [0, 12], none, none, [5, 1], none, none, none]
    assert fields.numbers(2, 3).tolist() == [
        [30, 0, 255],
        [99, 9, 0],
        *[[MISSING] * 3] * 2,
        [1, 2, 3],
        *[[MISSING] * 3] * 2,
        [0, 0, 0],
    ]
    assert (fields.numbers(5, 1) == MISSING).all()


def test_genotypes():
    found = SampleFields("\t".join([*COLUMNS, "1/0", "0|0", "0-1"]).encode()).genotypes(0)
    assert found.tolist() == [1, 2, MISSING, 0, MISSING, MISSING, 0, MISSING, 1, 0, MISSING]


def test_numbers_with_fractions():
    found = SampleFields(b"0/1:-1.5,-0.1,-3e1\t0/0\t0/0:.,1,2\t1/1:1,2").logs(1, 3)
    assert found[0] == pytest.approx([-1.5, -0.1, -30]) and np.isnan(found[1:]).all()


def test_one_column():
    assert SampleFields(b"17").numbers(0, 1).tolist() == [[17]]
    assert SampleFields(b"1234567890").numbers(0, 1).tolist() == [[MISSING]]
