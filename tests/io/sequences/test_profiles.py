"""Profiles: reads as probabilities."""

from __future__ import annotations

import pytest

from pairhmm.errors import InputError
from pairhmm.io.sequences.profiles import read_profiles


def test_profiles(tmp_path):
    path = tmp_path / "x.profile"
    path.write_text(">p1 x\n1 0 0 0\n.25 .25 .25 .25\n\n>p2\n0 0 0 1\n")
    (first, one), (second, two) = read_profiles(path)
    assert (first, second) == ("p1", "p2")
    assert (one.shape, two.tolist()) == ((2, 4), [[0, 0, 0, 1]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (">p\n1 0 0 0\n.5 .5 .5 0\n", "p: row 2 sums to 1.5 instead of 1; normalise the row"),
        (">p\n1 0 0\n", "line 2: not four numbers"),
        ("1 0 0 0\n", "line 1: numbers before the first >name"),
        (">p\n>q\n1 0 0 0\n", "p: empty profile"),
        ("", "no profile in it"),
    ],
)
def test_bad_profiles(tmp_path, text, message):
    path = tmp_path / "x.profile"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        list(read_profiles(path))
