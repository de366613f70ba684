"""Qualities as callers give them: what does not fit is refused, and never wrapped around or shifted."""

import numpy as np
import pytest

import pairhmm
from pairhmm.sequences.letters import phred

BASES = "ACGTAC"


@pytest.mark.parametrize(
    "given", [40, [40] * 6, np.full(6, 40), np.full(6, 40, dtype=np.uint8), "IIIIII", b"IIIIII", np.int64(40)]
)
def test_every_form_is_the_same_read(given):
    read = pairhmm.make_read(BASES, given, insertion_quality=given)
    assert read.base_quality.tolist() == read.insertion_quality.tolist() == [40] * 6
    assert read.base_quality.dtype == np.uint8


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([300], r"base_quality\[0\] is 300: qualities are whole numbers from 0 to 127"),
        (np.array([30, 30, 300, 30, 30, 30]), r"base_quality\[2\] is 300"),
        (300, r"base_quality\[0\] is 300"),
        ([30, -1, 30, 30, 30, 30], r"base_quality\[1\] is -1"),
        ([30.5] * 6, "base_quality holds float64: qualities are whole numbers"),
        (float("nan"), "qualities are whole numbers"),
        ([True] * 6, "base_quality holds bool"),
        ([[30] * 6], "base_quality has 2 dimensions"),
        ([30], "base_quality has 1 values for 6 bases: give one a base, or one number for all"),
        ("I", "base_quality has 1 values for 6 bases"),
        ("IIIIIII", "base_quality has 7 values for 6 bases"),
        ("IIIII ", r"base_quality\[5\] is -1"),
        ([], "base_quality has 0 values for 6 bases"),
    ],
)
def test_what_does_not_fit_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        pairhmm.make_read(BASES, given)


@pytest.mark.parametrize("name", ["insertion_quality", "deletion_quality", "gap_quality"])
def test_every_quality_is_checked(name):
    with pytest.raises(ValueError, match=rf"{name}\[0\] is 300"):
        pairhmm.make_read(BASES, 30, **{name: np.full(6, 300)})


def shifted():
    """Two reads, each with qualities of the wrong length, whose sum is right."""
    parts = [pairhmm.make_read("A" * length, 30) for length in (10, 12)]
    columns = [[getattr(part, name) for name in pairhmm.Read.__dataclass_fields__] for part in parts]
    columns[0][1], columns[1][1] = np.full(9, 30, dtype=np.uint8), np.full(13, 30, dtype=np.uint8)
    return [pairhmm.Read(*column) for column in columns]


def test_reads_do_not_shift_into_each_other():
    message = r"reads\[0\]: base_quality has 9 values for 10 bases"
    with pytest.raises(ValueError, match=message):
        pairhmm.forward(shifted(), ["ACGTACGTACGTACGT"])
    with pytest.raises(ValueError, match=message):
        pairhmm.PairBatch.from_groups([pairhmm.Group(shifted(), ["ACGTACGTACGTACGT"])])


def test_of_samples():
    letters = "ACGTTGCAACCA"
    hit = pairhmm.scan({"a": letters}, {"s": letters}, {"s": "I" * 12})[0]
    assert hit.score == 12 * 40
    for given, message in (
        (np.full(12, 300), r"qualities\['s'\]\[0\] is 300"),
        ("I", "sample 's' has 1 qualities for 12 letters"),
    ):
        with pytest.raises(ValueError, match=message):
            pairhmm.scan({"a": letters}, {"s": letters}, {"s": given})
    with pytest.raises(ValueError, match="sample 's' has no qualities"):
        pairhmm.scan({"a": letters}, {"s": letters}, {})


def test_no_qualities():
    assert phred([], "q").dtype == np.uint8
