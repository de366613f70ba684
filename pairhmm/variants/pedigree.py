"""Families among the samples of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SampleFamily:
    """Two parents and their children, as indices of samples."""

    father: int
    mother: int
    children: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pedigree:
    """Who the parents of samples are.

    Attributes
    ----------
    parents : mapping of str to (str, str)
        Father and mother of each child; empty where not known.
    name : str
        Where it is from, for messages.
    """

    parents: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    name: str = "the pedigree"

    def families(self, samples: Sequence[str]) -> tuple[list[SampleFamily], list[str]]:
        """The families whose parents and children are among the samples.

        Families may share members, as those of three generations do, but may close no loop: there the later family is
        left out.

        Parameters
        ----------
        samples : sequence of str

        Returns
        -------
        families : list of SampleFamily
        left_out : list of str
            Children of the families that are left out.

        Examples
        --------
        >>> Pedigree({"child": ("father", "mother")}).families(["child", "father", "mother"])
        ([SampleFamily(father=1, mother=2, children=(0,))], [])
        """
        index = {name: number for number, name in enumerate(samples)}
        of_parents: dict[tuple[int, int], list[int]] = {}
        for child, both in self.parents.items():
            if child in index and all(parent in index for parent in both):
                of_parents.setdefault((index[both[0]], index[both[1]]), []).append(index[child])
        head = list(range(len(samples)))
        families, left_out = [], []
        for (father, mother), children in of_parents.items():
            members = (father, mother, *children)
            heads = {_head_of(head, member) for member in members}
            if len(heads) < len(members):
                left_out += [samples[child] for child in children]
                continue
            families.append(SampleFamily(father, mother, tuple(children)))
            for one in heads:
                head[one] = min(heads)
        return families, left_out


def _head_of(head: list[int], member: int) -> int:
    """The first member of those that families connect with this one."""
    while head[member] != member:
        member = head[member]
    return member
