"""The differences of an aligned sequence: they spell it, and `bcftools norm` leaves them as they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairhmm.align.haplotypes import differences_of_each
from pairhmm.variants.differences import differences_of

BASES = st.text("AC", min_size=1, max_size=12) | st.text("ACGT", min_size=1, max_size=30)


def applied(reference, differences):
    """The reference with all differences, which must not overlap but for the anchor base of an indel."""
    letters, behind = list(reference), [""] * len(reference)
    for position, old, new in differences:
        assert reference[position : position + len(old)] == old or new[-1] == old[-1] == "N"
        if len(old) == len(new) == 1:
            letters[position] = new
        elif old[0] == new[0]:
            behind[position] += new[1:]
            letters[position + 1 : position + len(old)] = [""] * (len(old) - 1)
        else:
            letters[position : position + len(old)] = [new, *[""] * (len(old) - 1)]
    return "".join(a + b for a, b in zip(letters, behind, strict=True))


@given(BASES, BASES, BASES, BASES)
def test_differences_spell_the_sequence(head, old, new, tail):
    reference, sequence = f"G{head}{old}{tail}", f"G{head}{new}{tail}"
    (found,) = differences_of_each(reference, [sequence])
    assert applied(reference, found) == sequence


def test_random_haplotypes_are_spelled():
    rng = np.random.default_rng(1)
    for _ in range(300):
        reference = "G" + "".join(rng.choice(list("ACGT")[: rng.integers(1, 5)], rng.integers(20, 120)))
        sequence = reference[0]
        for base in reference[1:]:
            kind = rng.random()
            sequence += "" if kind < 0.03 else base if kind > 0.1 else str(rng.choice(list("ACGT")))
            sequence += "".join(rng.choice(list("ACGT"), rng.integers(1, 4))) if kind > 0.97 else ""
        (found,) = differences_of_each(reference, [sequence])
        assert applied(reference, found) == sequence, (reference, sequence)


@pytest.mark.parametrize(
    ("sequence", "operations", "expected"),
    [
        ("GATTACA", [(0, 7)], set()),
        ("GCTTAGA", [(0, 7)], {(1, "A", "C"), (5, "C", "G")}),
        ("GATACA", [(0, 3), (2, 1), (0, 3)], {(1, "AT", "A")}),
        ("GATTTACA", [(0, 4), (1, 1), (0, 3)], {(1, "A", "AT")}),
        # Two different letters and a third one: one difference without an anchor.
        ("GACGGACA", [(0, 2), (1, 3), (2, 2), (0, 3)], {(2, "TT", "CGG")}),
        # As many letters on both sides are letters of their own.
        ("GACCACA", [(0, 2), (1, 2), (2, 2), (0, 3)], {(2, "T", "C"), (3, "T", "C")}),
        # What both sides share is left out.
        ("GATGTACA", [(0, 2), (1, 3), (2, 2), (0, 3)], {(2, "T", "TG")}),
        ("ATTACA", [(2, 1), (0, 6)], {(0, "GA", "A")}),
        ("", [(2, 7)], {(0, "GATTACAN", "N")}),
    ],
)
def test_operations(sequence, operations, expected):
    assert differences_of("GATTACA", sequence, operations) == expected


def test_an_indel_is_shifted_into_the_bases_before():
    assert differences_of("CCTTTTTG", "TTG", [(2, 2), (0, 3)], first=3) == {(1, "CTT", "C")}
