"""Exchanges and flags: from relations that are known."""

import numpy as np
import pytest

from pairhmm.map.flags import CONTAMINATED, DUPLICATE, RELATIVE, SWAP, find_swaps, pair_and_sample_flags
from pairhmm.variants.genealogy import UNKNOWN, Genealogy


class Sheet:
    """Samples such as a1, a2, b1 of individuals a and b, where `who` says whose DNA some of them really are."""

    def __init__(self, samples, parents=None, **who):
        self.samples = samples.split()
        expected = {name: name[0] for name in self.samples}
        self.expected = Genealogy(expected, parents or {}).relations(self.samples)
        self.found = Genealogy(expected | who, parents or {}).relations(self.samples)

    def exchanges(self):
        return {tuple(self.samples[one] for one in pair) for pair in find_swaps(self.found, self.expected).exchanges}

    def flagged(self, contaminated=()):
        tainted = np.array([name in contaminated for name in self.samples])
        pairs, samples = pair_and_sample_flags(self.found, self.expected, tainted)
        for table in pairs.values():
            assert (table == table.T).all() and not table.diagonal().any()
        return pairs, {flag: {self.samples[i] for i in np.flatnonzero(is_set)} for flag, is_set in samples.items()}

    def pairs(self, table):
        return {(self.samples[i], self.samples[j]) for i, j in np.argwhere(np.triu(table))}


def test_what_fits_has_no_flag():
    _, samples = Sheet("a1 a2 b1 b2 c1").flagged()
    assert not any(samples.values())


def test_two_of_three_samples_exchanged():
    sheet = Sheet("a1 a2 a3 b1 b2 b3 c1 c2", a1="b", b1="a")
    assert sheet.exchanges() == {("a1", "b1")}
    pairs, samples = sheet.flagged()
    assert samples == {SWAP: {"a1", "b1"}, DUPLICATE: set(), RELATIVE: set(), CONTAMINATED: set()}
    of_a1, of_b1 = ("a2", "a3", "b2", "b3"), ("b2", "b3")
    expected = {("a1", one) for one in of_a1} | {("b1", one) for one in of_b1} | {("a2", "b1"), ("a3", "b1")}
    assert sheet.pairs(pairs[SWAP]) == expected


def test_with_two_samples_each_nobody_knows_which():
    sheet = Sheet("a1 a2 b1 b2 c1 c2", a1="b", b1="a")
    assert sheet.exchanges() == {("a1", "b1"), ("a2", "b2")}
    assert sheet.flagged()[1][SWAP] == {"a1", "a2", "b1", "b2"}


def test_an_only_sample_and_one_of_two():
    sheet = Sheet("a1 a2 b1 c1", a1="b", b1="a")
    assert sheet.exchanges() == {("a1", "b1")}


def test_parents_tell_which_child_was_exchanged():
    parents = {"k": ("f", "m")}
    sheet = Sheet("f1 m1 k1 s1 t1", parents, k1="s", s1="k")
    assert sheet.exchanges() == {("k1", "s1")}
    _, samples = sheet.flagged()
    assert samples[SWAP] == {"k1", "s1"} and not samples[RELATIVE]


@pytest.mark.parametrize("seed", range(3))
def test_many_exchanges(seed):
    rng = np.random.default_rng(seed)
    names = [f"{letter}{number}" for letter in "abcdefghijklmnopqrst" for number in range(3)]
    letters = rng.permutation(20)[:6].reshape(3, 2)
    who, swapped = {}, set()
    for one, other in letters:
        first, second = names[3 * one + rng.integers(3)], names[3 * other + rng.integers(3)]
        who |= {first: second[0], second: first[0]}
        swapped |= {first, second}
    sheet = Sheet(" ".join(names), **who)
    assert sheet.flagged()[1][SWAP] == swapped


def test_duplicates_are_no_exchanges():
    sheet = Sheet("a1 b1 c1 c2 d1", b1="a", d1="c")
    pairs, samples = sheet.flagged()
    assert samples[SWAP] == set()
    assert samples[DUPLICATE] == {"a1", "b1", "c1", "c2", "d1"}
    assert sheet.pairs(pairs[DUPLICATE]) == {("a1", "b1"), ("c1", "d1"), ("c2", "d1")}


def test_a_sample_that_fits_nobody():
    sheet = Sheet("a1 a2 a3 b1 b2", a1="x")
    assert sheet.exchanges() == set()
    assert sheet.flagged()[1][SWAP] == {"a1"}
    sheet = Sheet("a1 a2 b1 b2", a1="x")
    assert sheet.flagged()[1][SWAP] == {"a1", "a2"}


def test_a_sample_of_another_individual_that_keeps_its_own():
    _, samples = Sheet("a1 a2 a3 b1 b2 b3", a1="b").flagged()
    assert samples[SWAP] == {"a1"}
    assert samples[DUPLICATE] == {"a1", "b1", "b2", "b3"}


def test_relatives_that_no_sheet_knows():
    sheet = Sheet("f1 k1 x1", {"k": ("f", "")})
    sheet.expected[:] = Genealogy({name: name for name in sheet.samples}, {}).relations(sheet.samples)
    _, samples = sheet.flagged()
    assert samples[RELATIVE] == {"f1", "k1"} and not samples[SWAP]


def test_without_a_sheet_equal_samples_are_duplicates():
    sheet = Sheet("a1 a2 b1")
    sheet.expected[~np.eye(3, dtype=bool)] = UNKNOWN
    _, samples = sheet.flagged(contaminated=("b1",))
    assert samples == {SWAP: set(), DUPLICATE: {"a1", "a2"}, RELATIVE: set(), CONTAMINATED: {"b1"}}
