"""`pairhmm.backends.webgpu.rows`: a row that is made once is what it would be at its place in a read."""

import dataclasses

import numpy as np
import pytest

from pairhmm.backends.webgpu import rows as webgpu_rows
from pairhmm.backends.webgpu.layout import LONGEST_TILE
from pairhmm.backends.webgpu.rows import FOLDED_AT, fold
from pairhmm.backends.webgpu.work import COARSE, FINE, UNFOLDED
from pairhmm.models import profile


def columns_of(table, name, count=1):
    at = webgpu_rows.KIND_AT[name]
    return table[:, at : at + count]


def folded_of(table, is_last):
    """The columns of `fold` that rows_kinds.wgsl makes of the table's rows at the positions of reads."""
    after = np.roll(table, -1, axis=0)
    mi_kept, extension = (
        columns_of(of, name, 2).view(np.float32).sum(axis=1, dtype=np.float64)
        for of, name in ((table, "INSERTION"), (after, "EXTENSION"))
    )
    one = {name: columns_of(table, name).view(np.float32)[:, 0] for name in webgpu_rows.KIND_COLUMNS}
    next_ = {name: columns_of(after, name).view(np.float32)[:, 0] for name in webgpu_rows.KIND_COLUMNS}
    return {
        "FROM_DELETION": np.where(is_last, 0, one["DELETION"] * next_["FIRST_DELETION"]),
        "FROM_INSERTION": np.where(is_last, 0, one["INSERTION"] * next_["AFTER_INSERTION"]),
        "EXTEND_INSERTION": np.where(is_last, mi_kept, mi_kept * extension),
        "EXTEND_DELETION": one["EXTEND_DELETION"],
        "OPENING": one["OPENING"],
        "FIRST_DELETION": one["FIRST_DELETION"],
    }


@pytest.mark.parametrize("by_copies", [None, np.geomspace([1e-5, 1e-4], 0.2, 20).T], ids=["constant", "by copies"])
@pytest.mark.parametrize("name", profile.PRESETS)
def test_a_table_is_the_rows_of_any_read(name, by_copies):
    rng = np.random.default_rng(1)
    quality = rng.integers(0, 42, 400).astype(np.uint8)
    bases = np.repeat(rng.integers(0, 5, 100), 4).astype(np.uint8)
    ends = np.array([0, 1, 151, 400])
    model = dataclasses.replace(profile.preset(name), by_copies=by_copies)
    profiles = model.with_repeats(model.base_calls(bases, quality), ends)
    folded = fold(profile.rows(profiles), ends)
    table = webgpu_rows.kind_table(profiles)[profiles.kinds]
    assert columns_of(table, "EMISSIONS", 5).view(np.float32) == pytest.approx(folded.rows[:, :5], rel=2e-7)
    for name, found in folded_of(table, np.isin(np.arange(400), ends[1:] - 1)).items():
        assert found == pytest.approx(folded.rows[:, FOLDED_AT[name]], rel=2e-7), name
    kept = columns_of(table, "KEPT").view(np.int32)[:, 0] / 2.0**COARSE + columns_of(table, "KEPT", 2)[:, 1] / 2.0**FINE
    assert np.add.reduceat(kept, ends[:-1]) == pytest.approx(folded.log_kept, abs=1e-7)
    assert not columns_of(table, "UNFIT").any()


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
