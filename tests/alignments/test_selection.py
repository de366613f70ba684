"""Which reads are asked for, and how those that are left out are announced."""

import logging
from collections import Counter

import pytest

from pairhmm.alignments.selection import (
    ELSEWHERE,
    EMPTY,
    LOW_MAPQ,
    NOWHERE,
    OTHER_FLAG,
    OUTSIDE,
    LeftOut,
    ReadSelection,
)
from pairhmm.errors import OptionError


@pytest.mark.parametrize("given", [(0, 0), (0xFFFF, 255), (0xF04, 20, 0), (0xF04, 20, 93), (0, 0, None)])
def test_selections_that_are_taken(given):
    ReadSelection(*given)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ((-1, 0), "excluded_flags"),
        ((0x10000, 0), "excluded_flags"),
        ((0, -1), "min_mapq"),
        ((0, 256), "min_mapq"),
        ((0, 0, -1), "default_base_quality"),
        ((0, 0, 94), "default_base_quality"),
    ],
)
def test_values_out_of_range_are_named(given, name):
    with pytest.raises(OptionError, match=f"^{name}="):
        ReadSelection(*given)


def test_reads_that_options_leave_out_are_information(caplog):
    caplog.set_level(logging.INFO)
    LeftOut(Counter({"duplicate": 3, LOW_MAPQ: 12}), has_used=True).announce()
    assert caplog.record_tuples[0][1:] == (logging.INFO, "reads left out: 3 duplicate, 12 low mapping quality")


@pytest.mark.parametrize("fault", [EMPTY, NOWHERE, OUTSIDE, ELSEWHERE])
def test_reads_that_a_faulty_file_leaves_out_are_a_warning(caplog, fault):
    LeftOut(Counter({"duplicate": 3, fault: 1}), has_used=True).announce()
    ((_, level, said),) = caplog.record_tuples
    assert level == logging.WARNING
    assert f"1 {fault}" in said


def test_reads_that_are_all_left_out_are_a_warning_with_the_options(caplog):
    LeftOut(Counter({"unmapped": 1, "duplicate": 3, LOW_MAPQ: 12, OTHER_FLAG: 2})).announce()
    ((_, level, said),) = caplog.record_tuples
    assert level == logging.WARNING
    assert said == (
        "no read is used; reads left out: 3 duplicate (--exclude-flags), 12 low mapping quality"
        " (--min-mapq), 1 unmapped, 2 with another excluded flag (--exclude-flags)"
    )


def test_parts_of_a_run_are_one(caplog):
    caplog.set_level(logging.INFO)
    whole = LeftOut()
    for part in (LeftOut(Counter({"duplicate": 1})), LeftOut(has_used=True), LeftOut(Counter({"duplicate": 2}))):
        whole.add(part)
    whole.announce()
    assert caplog.record_tuples[0][1:] == (logging.INFO, "reads left out: 3 duplicate")


def test_nothing_is_said_where_nothing_is_left_out(caplog):
    caplog.set_level(logging.INFO)
    LeftOut().announce()
    assert not caplog.record_tuples
