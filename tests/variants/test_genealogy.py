"""The relations that sheets and pedigrees say."""

import pytest

from pairhmm.variants.genealogy import RELATIONS, UNKNOWN, Genealogy, PedigreeError

PARENTS = {
    "kid": ("dad", "mum"),
    "sister": ("dad", "mum"),
    "half": ("dad", "other"),
    "dad": ("grandad", ""),
    "uncle": ("grandad", "gran"),
    "alone": ("", "nobody"),
}


def relation(first, second, individuals=None):
    names = [first, second]
    found = Genealogy(individuals or {name: name for name in names}, PARENTS).relations(names)
    assert (found == found.T).all()
    return RELATIONS[found[0, 1]] if found[0, 1] != UNKNOWN else "."


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("kid", "dad", "parent-child"),
        ("mum", "kid", "parent-child"),
        ("kid", "sister", "siblings"),
        ("kid", "half", "related"),
        ("kid", "grandad", "related"),
        ("kid", "uncle", "related"),
        ("dad", "uncle", "related"),
        ("dad", "mum", "unrelated"),
        ("kid", "alone", "unrelated"),
        ("kid", "stranger", "unrelated"),
    ],
)
def test_relations_in_a_family(first, second, expected):
    assert relation(first, second) == expected


def test_two_samples_of_one_individual():
    assert relation("a", "b", {"a": "kid", "b": "kid"}) == "identical"
    assert relation("a", "b", {"a": "kid", "b": "mum"}) == "parent-child"


def test_nothing_is_expected_of_unknown_samples():
    assert relation("a", "b", {"a": "kid"}) == "."
    assert relation("a", "b", {"x": "y"}) == "."


@pytest.mark.parametrize("loop", [{"a": ("a", "")}, {"a": ("b", ""), "b": ("", "a")}])
def test_nobody_is_an_own_ancestor(loop):
    with pytest.raises(PedigreeError, match="is an ancestor of itself"):
        Genealogy({"a": "a", "b": "b"}, loop).relations(["a", "b"])
