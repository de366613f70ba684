"""`pairhmm.backends.webgpu.rows`: a row that is made once is what it would be at its place in a read."""

import dataclasses

import numpy as np

from pairhmm.backends.webgpu import rows as webgpu_rows
from pairhmm.backends.webgpu.layout import LONGEST_TILE
from pairhmm.backends.webgpu.work import COARSE, UNFOLDED
from pairhmm.models import profile


def columns_of(table, name, count=1):
    at = webgpu_rows.KIND_AT[name]
    return table[:, at : at + count]


def test_rows_that_this_form_does_not_hold():
    """A letter that nothing emits, or hardly anything, and a model without matches: the CPU's."""
    given = profile.preset("normalised")
    match = np.array(given.match)
    match[0], match[1] = 0, webgpu_rows.LEAST_KEPT / 2
    model = dataclasses.replace(given, match=match)
    called = np.eye(4)
    assert columns_of(webgpu_rows.kind_table(model.profiles(called)), "UNFIT")[:, 0].tolist() == [
        UNFOLDED,
        UNFOLDED,
        0,
        0,
    ]
    none = dataclasses.replace(given, transitions={**given.transitions, "MM": 0.0})
    assert (columns_of(webgpu_rows.kind_table(none.profiles(called)), "UNFIT") == UNFOLDED).all()


def test_logarithms_of_the_longest_tile_fit():
    assert -np.log10(webgpu_rows.LEAST_KEPT) * 2**COARSE * LONGEST_TILE < 2**31
