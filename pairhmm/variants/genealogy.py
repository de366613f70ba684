"""The relations that a sample sheet or a pedigree says samples have, and the numbers by which arrays name them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

RELATIONS = ("unrelated", "related", "siblings", "parent-child", "identical")
"""Names, by number. Related is of the second degree, such as half-siblings."""
UNRELATED, RELATED, SIBLINGS, PARENT_CHILD, IDENTICAL = range(len(RELATIONS))
UNKNOWN = -1
"""The number of a relation that is not known."""

IBD = np.array(
    [
        [1.0, 0.0, 0.0],
        [0.5, 0.5, 0.0],
        [0.25, 0.5, 0.25],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
    ]
)
"""Probability that two samples of a relation have 0, 1 and 2 alleles from a common ancestor, (relations, 3).

Thompson (1975), "The estimation of pairwise relationships", table 1.
"""


Parents = tuple[str, str]
"""Father and mother; empty where not known."""


class PedigreeError(ValueError):
    """A pedigree that can't be: the message says why."""


@dataclass(frozen=True, slots=True)
class Genealogy:
    """Who the samples are from.

    Attributes
    ----------
    individuals : mapping of str to str
        The individual of each sample. Nothing is expected of samples that it lacks.
    parents : mapping of str to (str, str)
        Father and mother of each individual whose parents are known. They need no samples.
    """

    individuals: Mapping[str, str] = field(default_factory=dict)
    parents: Mapping[str, Parents] = field(default_factory=dict)

    def relations(self, samples: Sequence[str]) -> NDArray[np.int8]:
        """The relation that is expected of each two samples.

        Raises PedigreeError for an individual that is its own ancestor.

        Returns
        -------
        int8 (samples, samples)
            Numbers of `pairhmm.variants.genealogy`. Samples have `IDENTICAL` with themselves.
        """
        kinship = _kinship(self.parents)
        numbers: dict[str, int] = {}
        of_sample = np.array(
            [
                numbers.setdefault(self.individuals[name], len(numbers)) if name in self.individuals else UNKNOWN
                for name in samples
            ],
            dtype=np.int64,
        )
        names = list(numbers)
        # The last row and column are of samples whose individual is not known, which the number -1 finds.
        table = np.full((len(names) + 1, len(names) + 1), UNRELATED, dtype=np.int8)
        for family in _families(names, self.parents):
            for place, first in enumerate(family):
                for second in family[place + 1 :]:
                    number = self._relation(first, second, kinship)
                    table[numbers[first], numbers[second]] = table[numbers[second], numbers[first]] = number
        np.fill_diagonal(table, IDENTICAL)
        table[-1] = table[:, -1] = UNKNOWN
        expected: NDArray[np.int8] = table[of_sample[:, None], of_sample[None, :]]
        np.fill_diagonal(expected, IDENTICAL)
        return expected

    def _relation(self, first: str, second: str, kinship: Callable[[str, str], float]) -> int:
        own, other = self.parents.get(first, ("", "")), self.parents.get(second, ("", ""))
        if first in other or second in own:
            return PARENT_CHILD
        if own == other and all(own):
            return SIBLINGS
        return RELATED if kinship(first, second) > 0 else UNRELATED


def _kinship(parents: Mapping[str, Parents]) -> Callable[[str, str], float]:
    """The coefficient of kinship of two individuals: the mean of that of the younger one's parents with the other.

    Thompson (1975). Raises PedigreeError for an individual that is its own ancestor.
    """
    generations = _generations(parents)

    @cache
    def coefficient(first: str, second: str) -> float:
        if not first or not second:
            return 0.0
        if first == second:
            return 0.5 * (1 + coefficient(*parents.get(first, ("", ""))))
        if generations.get(first, 0) < generations.get(second, 0):
            first, second = second, first
        return sum(0.5 * coefficient(parent, second) for parent in parents.get(first, ("", "")))

    return coefficient


def _generations(parents: Mapping[str, Parents]) -> dict[str, int]:
    """How many generations of ancestors each individual has."""
    known: dict[str, int] = {}
    for start in parents:
        path: dict[str, None] = {}
        waiting = [start]
        while waiting:
            name = waiting[-1]
            above = [parent for parent in parents.get(name, ()) if parent]
            missing = [parent for parent in above if parent not in known]
            if name in known:
                waiting.pop()
            elif not missing:
                known[name] = 1 + max((known[parent] for parent in above), default=-1)
                path.pop(name, None)
                waiting.pop()
            else:
                path[name] = None
                if loops := [parent for parent in missing if parent in path]:
                    raise PedigreeError(f"{loops[0]} is an ancestor of itself")
                waiting.extend(missing)
    return known


def _families(names: Sequence[str], parents: Mapping[str, Parents]) -> list[list[str]]:
    """The named individuals, in groups that share ancestors or are connected by children."""
    head: dict[str, str] = {}

    def find(name: str) -> str:
        while head.setdefault(name, name) != name:
            head[name] = head.setdefault(head[name], head[name])
            name = head[name]
        return name

    for child, above in parents.items():
        for parent in filter(None, above):
            head[find(parent)] = find(child)
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(find(name), []).append(name)
    return [group for group in groups.values() if len(group) > 1]
