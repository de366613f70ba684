"""`pairhmm.backends.webgpu.kinds`: a row that is made once is what it would be at its place in a read."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from pairhmm.backends.webgpu import kinds
from pairhmm.backends.webgpu.folded_rows import COLUMN_AT, fold
from pairhmm.backends.webgpu.layout import LONGEST_TILE
from pairhmm.backends.webgpu.work import COARSE, FINE, UNFOLDED
from pairhmm.models import profile


def columns_of(table, name, count=1):
    at = kinds.KIND_AT[name]
    return table[:, at : at + count]


@pytest.mark.parametrize("name", profile.PRESETS)
def test_a_table_is_the_rows_of_any_read(name):
    rng = np.random.default_rng(1)
    quality = rng.integers(0, 42, 400).astype(np.uint8)
    profiles = profile.preset(name).base_calls(rng.integers(0, 5, 400).astype(np.uint8), quality)
    ends = np.array([0, 1, 151, 400])
    folded = fold(profile.rows(profiles), ends)
    table = kinds.kind_table(profiles)[profiles.kinds]
    shared = kinds.KIND_AT["LAST_INSERTION"]
    is_last = np.isin(np.arange(400), ends[1:] - 1)
    found = table[:, :shared].view(np.float32)
    expected = folded.rows[:, :shared]
    assert found[~is_last] == pytest.approx(expected[~is_last], rel=2e-7)
    last = columns_of(table, "LAST_INSERTION").view(np.float32)[is_last, 0]
    assert last == pytest.approx(expected[is_last, COLUMN_AT["EXTEND_INSERTION"]], rel=2e-7)
    kept = columns_of(table, "KEPT").view(np.int32)[:, 0] / 2.0**COARSE + columns_of(table, "KEPT", 2)[:, 1] / 2.0**FINE
    assert np.add.reduceat(kept, ends[:-1]) == pytest.approx(folded.log_kept, abs=1e-7)
    assert not columns_of(table, "UNFIT").any()


def test_rows_that_this_form_does_not_hold():
    """A letter that nothing emits, or hardly anything, and a model without matches: the CPU's."""
    given = profile.preset("normalised")
    match = np.array(given.match)
    match[0], match[1] = 0, kinds.LEAST_KEPT / 2
    model = dataclasses.replace(given, match=match)
    called = np.eye(4)
    assert columns_of(kinds.kind_table(model.profiles(called)), "UNFIT")[:, 0].tolist() == [UNFOLDED, UNFOLDED, 0, 0]
    none = dataclasses.replace(given, transitions={**given.transitions, "MM": 0.0})
    assert (columns_of(kinds.kind_table(none.profiles(called)), "UNFIT") == UNFOLDED).all()


def test_logarithms_of_the_longest_tile_fit():
    assert -np.log10(kinds.LEAST_KEPT) * 2**COARSE * LONGEST_TILE < 2**31
