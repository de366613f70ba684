"""Packed names are those that were packed."""

import numpy as np
import pytest

from pairhmm.sequences.arrays import Names

LISTS = ([], [""], ["r1", "", "a name", "r1"], ["äöü", "日本", "r"])


@pytest.mark.parametrize("names", LISTS)
def test_as_a_sequence(names):
    packed = Names.of(names)
    assert len(packed) == len(names) and list(packed) == names and packed == names and packed == Names.of(names)
    assert [packed[index] for index in range(len(names))] == names
    assert (packed[1:], packed[:-1], packed[::-1]) == (names[1:], names[:-1], names[::-1])
    assert [packed[index - len(names)] for index in range(len(names))] == names
    assert [packed.raw(index).decode() for index in range(len(names))] == names
    for index in (len(names), -len(names) - 1):
        with pytest.raises(IndexError):
            packed[index]


@pytest.mark.parametrize("names", LISTS)
def test_parts(names):
    packed = Names.of([name.encode() for name in names])
    for first in range(len(names) + 1):
        for end in range(first, len(names) + 1):
            assert packed.take(first, end) == names[first:end]
    order = [*range(len(names))[::-1], *range(len(names)), *([0, 0] if names else [])]
    assert packed.at(np.array(order, dtype=np.int64)) == [names[index] for index in order]
    assert Names.concatenate([packed, Names.of([]), packed]) == names + names


def test_equality():
    assert Names.of(["a", "bc"]) != Names.of(["ab", "c"])
    assert Names.of(["a"]) != ["b"]
    assert Names.of(["a"]) != "a"


def test_names_that_are_no_text_are_shown_with_a_replacement():
    packed = Names.of([b"r\xff", b"s"])
    assert list(packed) == ["r\ufffd", "s"] and packed[0] == "r\ufffd" and packed.raw(0) == b"r\xff"
